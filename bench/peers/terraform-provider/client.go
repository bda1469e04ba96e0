// Requests to the service (docs/service-interface.md), and comparing trees of schemas, tables and columns.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

// tree is a map of names to trees and booleans, as in the service's JSON.
type tree = map[string]any

type client struct {
	base, key string
	http      *http.Client
}

func newClient() *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// By default, Terraform makes 10 calls at a time, and Go keeps 2 idle connections.
	transport.MaxIdleConnsPerHost = 100
	return &client{base: os.Getenv("BENCH_BASE_URL"), key: os.Getenv("BENCH_API_KEY"), http: &http.Client{Transport: transport}}
}

// call sends a request for the schemas of an integration, and returns the schemas of the response.
func (c *client) call(method, integration string, body any) (tree, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, c.base+"/v1/integrations/"+url.PathEscape(integration)+"/schemas", content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("x-api-key", c.key)
	request.Header.Set("content-type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s of the schemas of %q: %s", method, integration, response.Status)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var envelope struct{ Data struct{ Schemas tree } }
	err = json.Unmarshal(text, &envelope)
	return envelope.Data.Schemas, err
}

func (c *client) read(integration string) (tree, error) {
	return c.call(http.MethodGet, integration, nil)
}

func (c *client) patch(integration string, changes tree) error {
	_, err := c.call(http.MethodPatch, integration, tree{"schemas": changes})
	return err
}

// project returns the live values of everything in `known`, and whether all of them are equal to it.
func project(known, live tree) (tree, bool) {
	found, same := make(tree, len(known)), true
	for name, value := range known {
		liveValue, exists := live[name]
		if !exists {
			same = false
			continue
		}
		if below, isTree := value.(tree); isTree {
			liveBelow, _ := liveValue.(tree)
			projected, sameBelow := project(below, liveBelow)
			found[name], same = projected, same && sameBelow
			continue
		}
		found[name], same = liveValue, same && liveValue == value
	}
	return found, same
}

// difference returns the part of `wanted` that is not in `live`.
func difference(wanted, live tree) tree {
	changes := tree{}
	for name, value := range wanted {
		if below, isTree := value.(tree); isTree {
			liveBelow, _ := live[name].(tree)
			if change := difference(below, liveBelow); len(change) > 0 {
				changes[name] = change
			}
		} else if value != live[name] {
			changes[name] = value
		}
	}
	return changes
}

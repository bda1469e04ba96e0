// The calls of Terraform's provider protocol 6 that one resource needs. The numbers of fields are those
// of the public tfplugin6.proto.
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// form is one of the two representations of schemas.
type form struct {
	attribute message
	// parse returns the tree of the attribute's value.
	parse func(value any) (tree, error)
	// print is the opposite of parse.
	print func(schemas tree) (any, error)
}

var forms = map[string]form{
	"bench_schemas_json": {
		attribute: required("schemas").bytes(2, []byte(`"string"`)),
		parse: func(value any) (schemas tree, err error) {
			err = json.Unmarshal([]byte(value.(string)), &schemas)
			return schemas, err
		},
		print: func(schemas tree) (any, error) {
			text, err := json.Marshal(schemas)
			return string(text), err
		},
	},
	"bench_schemas": {
		attribute: mapOf("schemas", boolean("enabled"), mapOf("tables", boolean("enabled"), mapOf("columns", boolean("enabled"), boolean("hashed")))),
		parse:     func(value any) (tree, error) { return value.(tree), nil },
		print:     func(schemas tree) (any, error) { return schemas, nil },
	},
}

// Schema.Attribute: name 1, type 2, required 4, nested_type 10.
func required(name string) message { return message{}.text(1, name).number(4, 1) }

func boolean(name string) message { return required(name).bytes(2, []byte(`"bool"`)) }

// Schema.Object: attributes 1, nesting 3, of which 4 is a map.
func mapOf(name string, attributes ...message) message {
	object := message{}
	for _, attribute := range attributes {
		object = object.bytes(1, attribute)
	}
	return required(name).bytes(10, object.number(3, 4))
}

// call takes a request and returns its response, both as protobuf messages.
type call = func(request []byte) ([]byte, error)

func providerCalls(service *client) map[string]call {
	empty := func([]byte) ([]byte, error) { return nil, nil }
	calls := map[string]call{
		"GetProviderSchema":      func([]byte) ([]byte, error) { return providerSchema(), nil },
		"ValidateProviderConfig": empty,
		"ConfigureProvider":      empty,
		"StopProvider":           empty,
		"ValidateResourceConfig": reporting(1, validate),
		"UpgradeResourceState":   reporting(2, upgrade),
		"ReadResource":           reporting(2, service.readResource),
		"PlanResourceChange":     reporting(4, plan),
		"ApplyResourceChange":    reporting(3, service.apply),
	}
	paths := map[string]call{}
	for name, call := range calls {
		paths["/tfplugin6.Provider/"+name] = call
	}
	return paths
}

// reporting returns an error as a diagnostic, in the field of the response with this number.
func reporting(number int, handle func(form, map[int][]byte) (message, error)) call {
	return func(request []byte) ([]byte, error) {
		found, err := fields(request)
		if err != nil {
			return nil, err
		}
		// Each of these requests has type_name 1.
		form, exists := forms[string(found[1])]
		if !exists {
			return nil, fmt.Errorf("there is no resource type %q", found[1])
		}
		response, err := handle(form, found)
		if err != nil {
			// Diagnostic: severity 1 (1 is an error), summary 2.
			return message{}.bytes(number, message{}.number(1, 1).text(2, err.Error())), nil
		}
		return response, nil
	}
}

func providerSchema() message {
	// Schema: block 2. Schema.Block: attributes 2.
	response := message{}.bytes(1, message{}.bytes(2, nil))
	for name, form := range forms {
		block := message{}.bytes(2, required("integration_id").bytes(2, []byte(`"string"`))).bytes(2, form.attribute)
		// A map has an entry with key 1 and value 2 for each resource type.
		response = response.bytes(2, message{}.text(1, name).bytes(2, message{}.bytes(2, block)))
	}
	// ServerCapabilities: get_provider_schema_optional 2.
	return response.bytes(6, message{}.number(2, 1))
}

// object decodes a DynamicValue (msgpack 1). It is nil for a resource that does not exist.
func object(value []byte) (map[string]any, error) {
	found, err := fields(value)
	if err != nil {
		return nil, err
	}
	decoded, _, err := decode(found[1])
	if err != nil {
		return nil, err
	}
	attributes, _ := decoded.(map[string]any)
	return attributes, nil
}

func dynamicValue(value any) message { return message{}.bytes(1, encode(nil, value)) }

// Request: config 2.
func validate(form form, request map[int][]byte) (message, error) {
	config, err := object(request[2])
	if err != nil {
		return nil, err
	}
	if _, later := config["schemas"].(unknown); !later {
		if _, err := form.parse(config["schemas"]); err != nil {
			return nil, fmt.Errorf("schemas must be a JSON object: %w", err)
		}
	}
	return nil, nil
}

// Request: raw_state 3 (json 1). Response: upgraded_state 1.
func upgrade(_ form, request map[int][]byte) (message, error) {
	raw, err := fields(request[3])
	if err != nil {
		return nil, err
	}
	var state map[string]any
	if err := json.Unmarshal(raw[1], &state); err != nil {
		return nil, err
	}
	return message{}.bytes(1, dynamicValue(state)), nil
}

// Request: current_state 2. Response: new_state 1.
func (c *client) readResource(form form, request map[int][]byte) (message, error) {
	state, err := object(request[2])
	if err != nil {
		return nil, err
	}
	known, err := form.parse(state["schemas"])
	if err != nil {
		return nil, err
	}
	live, err := c.read(state["integration_id"].(string))
	if err != nil {
		return nil, err
	}
	found, same := project(known, live)
	if same {
		return message{}.bytes(1, request[2]), nil
	}
	if state["schemas"], err = form.print(found); err != nil {
		return nil, err
	}
	return message{}.bytes(1, dynamicValue(state)), nil
}

// Request: prior_state 2, proposed_new_state 3. Response: planned_state 1, requires_replace 2.
func plan(form form, request map[int][]byte) (message, error) {
	proposed := message{}.bytes(1, request[3])
	before, err := object(request[2])
	if err != nil {
		return nil, err
	}
	after, err := object(request[3])
	if err != nil || before == nil || after == nil {
		return proposed, err
	}
	if before["integration_id"] != after["integration_id"] {
		// AttributePath: steps 1. Step: attribute_name 1.
		return proposed.bytes(2, message{}.bytes(1, message{}.text(1, "integration_id"))), nil
	}
	if _, later := after["schemas"].(unknown); later {
		return proposed, nil
	}
	same, err := equal(form, before["schemas"], after["schemas"])
	if err != nil || !same {
		return proposed, err
	}
	return message{}.bytes(1, request[2]), nil
}

// equal compares the trees of two values, so that the format of JSON does not matter.
func equal(form form, before, after any) (bool, error) {
	if reflect.DeepEqual(before, after) {
		return true, nil
	}
	old, err := form.parse(before)
	if err != nil {
		return false, err
	}
	wanted, err := form.parse(after)
	return reflect.DeepEqual(old, wanted), err
}

// Request: prior_state 2, planned_state 3. Response: new_state 1.
func (c *client) apply(form form, request map[int][]byte) (message, error) {
	planned := message{}.bytes(1, request[3])
	before, err := object(request[2])
	if err != nil {
		return nil, err
	}
	after, err := object(request[3])
	// The service cannot delete schemas. Destroying the resource only removes it from the state.
	if err != nil || after == nil {
		return planned, err
	}
	integration := after["integration_id"].(string)
	var live tree
	if before == nil {
		live, err = c.read(integration)
	} else {
		live, err = form.parse(before["schemas"])
	}
	if err != nil {
		return nil, err
	}
	wanted, err := form.parse(after["schemas"])
	if err != nil {
		return nil, err
	}
	if changes := difference(wanted, live); len(changes) > 0 {
		if err := c.patch(integration, changes); err != nil {
			return nil, err
		}
	}
	return planned, nil
}

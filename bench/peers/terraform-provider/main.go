// A lean Terraform provider for the benchmark (.github/PERFORMANCE.md). Its resource is the schema
// configuration of one integration, in two forms: in bench_schemas_json, `schemas` is a JSON string, and in
// bench_schemas, nested maps. It needs only Go's standard library, so that it builds without a network.
//
// This file serves gRPC as Terraform's go-plugin expects it: HTTP/2 with mutual TLS on a Unix socket.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const (
	grpcUnknown       = "2"
	grpcUnimplemented = "12"
)

func main() {
	clientCertificate := os.Getenv("PLUGIN_CLIENT_CERT")
	if clientCertificate == "" {
		log.Fatal("Terraform starts this program as a provider. Do not run it directly.")
	}
	folder, err := os.MkdirTemp("", "terraform-provider-bench-")
	if err != nil {
		log.Fatal(err)
	}
	exit := func() {
		os.RemoveAll(folder)
		os.Exit(0)
	}
	config, certificate, err := mutualTLS(clientCertificate)
	if err != nil {
		log.Fatal(err)
	}
	socket := filepath.Join(folder, "socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	go exitWithParent(exit)

	calls := providerCalls(newClient())
	shutdown := make(chan struct{})
	server := &http.Server{TLSConfig: config, Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/plugin.GRPCController/Shutdown" {
			reply(response, nil)
			close(shutdown)
			return
		}
		call, known := calls[request.URL.Path]
		if !known {
			fail(response, grpcUnimplemented, "not implemented")
			return
		}
		message, err := readMessage(request.Body)
		if err == nil {
			message, err = call(message)
		}
		if err != nil {
			fail(response, grpcUnknown, err.Error())
			return
		}
		reply(response, message)
	})}
	go func() {
		<-shutdown
		// The reply to Shutdown has been written, but may not have been sent.
		time.Sleep(5 * time.Millisecond)
		exit()
	}()
	// Core protocol 1, provider protocol 6.
	fmt.Printf("1|6|unix|%s|grpc|%s\n", socket, base64.RawStdEncoding.EncodeToString(certificate))
	log.Fatal(server.ServeTLS(listener, "", ""))
}

// mutualTLS accepts only the client with this certificate. It also returns the server's own certificate.
func mutualTLS(client string) (*tls.Config, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM([]byte(client)) {
		return nil, nil, fmt.Errorf("PLUGIN_CLIENT_CERT is not a certificate")
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
		MinVersion:   tls.VersionTLS12,
	}, certificate, nil
}

// exitWithParent ends this process if Terraform was killed.
func exitWithParent(exit func()) {
	for parent := os.Getppid(); os.Getppid() == parent; {
		time.Sleep(time.Second)
	}
	exit()
}

// readMessage reads the one message of a unary call: a flag for compression, a length, the message.
func readMessage(body io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(body, message)
	return message, err
}

func reply(response http.ResponseWriter, message []byte) {
	response.Header().Set("Content-Type", "application/grpc")
	response.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	var head [5]byte
	binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
	response.Write(head[:])
	response.Write(message)
	response.(http.Flusher).Flush()
}

func fail(response http.ResponseWriter, status, text string) {
	response.Header().Set("Content-Type", "application/grpc")
	response.Header().Set("Grpc-Status", status)
	response.Header().Set("Grpc-Message", text)
}

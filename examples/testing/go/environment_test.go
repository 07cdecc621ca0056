package tests

// The part of envtest that a test needs: it starts etcd and kube-apiserver of $KUBEBUILDER_ASSETS, with certificates of
// its own. With controller-runtime, `(&envtest.Environment{}).Start()` does all of this.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Environment is a running control plane.
type Environment struct {
	URL string
	// Client sends requests as an administrator.
	Client   *http.Client
	folder   string
	programs []*exec.Cmd
}

// Start returns when the API server is healthy. Stop ends it, also after an error.
func (e *Environment) Start() error {
	folder, err := os.MkdirTemp("", "envtest-")
	if err != nil {
		return err
	}
	e.folder = folder
	certificates, err := newCertificates(folder)
	if err != nil {
		return err
	}
	e.Client = certificates.client
	etcd := fmt.Sprintf("http://127.0.0.1:%d", freePort())
	err = e.run(etcd+"/health", "etcd", "--data-dir="+folder+"/etcd", "--unsafe-no-fsync=true",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls=http://localhost:0")
	if err != nil {
		return err
	}
	port := freePort()
	e.URL = fmt.Sprintf("https://127.0.0.1:%d", port)
	return e.run(e.URL+"/healthz", "kube-apiserver", "--etcd-servers="+etcd, "--cert-dir="+folder,
		"--client-ca-file="+folder+"/ca.crt", "--authorization-mode=RBAC", "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port), "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer="+e.URL+"/", "--service-account-key-file="+folder+"/apiserver.key",
		"--service-account-signing-key-file="+folder+"/apiserver.key", "--service-cluster-ip-range=10.0.0.0/24")
}

// Stop ends the programs and deletes their data.
func (e *Environment) Stop() {
	for i := len(e.programs) - 1; i >= 0; i-- {
		_ = e.programs[i].Process.Signal(syscall.SIGTERM)
		_ = e.programs[i].Wait()
	}
	_ = os.RemoveAll(e.folder)
}

func (e *Environment) run(health, program string, args ...string) error {
	command := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), program), args...)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return err
	}
	e.programs = append(e.programs, command)
	var last error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var response *http.Response
		if response, last = e.Client.Get(health); last == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is not healthy: %v", program, last)
}

type certificates struct{ client *http.Client }

// newCertificates writes those of an authority and of the server, and returns a client with an administrator's.
func newCertificates(folder string) (*certificates, error) {
	authority := template("envtest", nil)
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage |= x509.KeyUsageCertSign
	ca, err := issue(authority, authority, nil)
	if err != nil {
		return nil, err
	}
	server := template("localhost", nil)
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	serving, err := issue(server, authority, ca.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		return nil, err
	}
	admin, err := issue(template("admin", []string{"system:masters"}), authority, ca.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		return nil, err
	}
	if err := write(folder, "ca", ca); err != nil {
		return nil, err
	}
	if err := write(folder, "apiserver", serving); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	root, err := x509.ParseCertificate(ca.Certificate[0])
	if err != nil {
		return nil, err
	}
	roots.AddCert(root)
	config := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{*admin}}
	return &certificates{client: &http.Client{Transport: &http.Transport{TLSClientConfig: config}}}, nil
}

func template(name string, groups []string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name, Organization: groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue signs with the key of the authority; without one, the certificate signs itself.
func issue(subject, authority *x509.Certificate, signer *ecdsa.PrivateKey) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, subject, authority, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func write(folder, name string, pair *tls.Certificate) error {
	key, err := x509.MarshalECPrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		return err
	}
	blocks := map[string]*pem.Block{
		".crt": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		".key": {Type: "EC PRIVATE KEY", Bytes: key},
	}
	for suffix, block := range blocks {
		if err := os.WriteFile(filepath.Join(folder, name+suffix), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func freePort() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

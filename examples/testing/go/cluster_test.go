package tests

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
	"time"
)

var environment Environment

func TestMain(m *testing.M) {
	code := 1
	if err := environment.Start(); err != nil {
		println(err.Error())
	} else {
		code = m.Run()
	}
	environment.Stop()
	os.Exit(code)
}

// do sends a request with an object, and returns the status and the object of the answer.
func do(t *testing.T, method, path string, object map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, environment.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := environment.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return response.StatusCode, answer
}

func TestAnObjectIsValidated(t *testing.T) {
	code, answer := do(t, "POST", "/api/v1/namespaces/default/configmaps", map[string]any{
		"metadata": map[string]any{"name": "Not a name"},
	})
	if code != http.StatusUnprocessableEntity || answer["reason"] != "Invalid" {
		t.Errorf("%d %v", code, answer)
	}
}

// With T8S_ENVTEST_CONTROLLERS=namespace, a deleted namespace goes with its objects.
func TestANamespaceIsDeletedWithItsObjects(t *testing.T) {
	path := "/api/v1/namespaces/shop"
	do(t, "POST", "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "shop"}})
	code, answer := do(t, "POST", path+"/configmaps", map[string]any{"metadata": map[string]any{"name": "prices"}})
	if code != http.StatusCreated {
		t.Fatalf("%d %v", code, answer)
	}
	do(t, "DELETE", path, map[string]any{})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if code, _ := do(t, "GET", path, nil); code == http.StatusNotFound {
			return
		}
	}
	t.Error("the namespace remains")
}

/** Manifests that several stops create. */

export const pod = (name: string, labels = 'app: web'): string => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: { ${labels} }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: registry.example/app:1
    resources: { requests: { cpu: 100m, memory: 64Mi }, limits: { memory: 128Mi } }
    env:
    - { name: MODE, value: fast }
    ports:
    - { containerPort: 8080 }
`

export const deployment = (name: string, replicas = 2, image = 'registry.example/app:1'): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  labels: { app: ${name} }
spec:
  replicas: ${replicas}
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      containers:
      - name: main
        image: ${image}
`

/** Data and labels are in flow style, which is JSON. */
export const configMap = (
  name: string,
  data: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  labels: ${JSON.stringify(labels)}
data: ${JSON.stringify(data)}
`

/** A node without a kubelet. */
export const node = (name: string): string => `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels: { kubernetes.io/hostname: ${name} }
spec:
  podCIDR: 10.244.7.0/24
status:
  capacity: { cpu: "4", memory: 8Gi, pods: "110" }
  nodeInfo:
    { kubeletVersion: v1.36.0, architecture: amd64, operatingSystem: linux, osImage: Test, kernelVersion: "6.1",
      containerRuntimeVersion: test://1, kubeProxyVersion: "", machineID: m, systemUUID: s, bootID: b }
  addresses:
  - { type: InternalIP, address: 192.0.2.7 }
  conditions:
  - type: Ready
    status: "True"
    reason: KubeletReady
    message: kubelet is posting ready status
    lastHeartbeatTime: "2026-01-01T00:00:00Z"
    lastTransitionTime: "2026-01-01T00:00:00Z"
`

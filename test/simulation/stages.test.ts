/** Pods and nodes that go through the stages of a file, as with kwok. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { events, type Node, nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { isDeleted, waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor as eventually } from '../support/wait-for.ts'

const stages = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-ready
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchLabels: { staged: "true" }
    matchExpressions:
    - { key: .metadata.deletionTimestamp, operator: DoesNotExist }
    - { key: .status.podIP, operator: DoesNotExist }
  next:
    event: { type: Normal, reason: Staged, message: it is ready }
    statusTemplate: |
      {{ $now := Now }}
      conditions:
      {{ range $type := list "Initialized" "Ready" "ContainersReady" }}
      - lastTransitionTime: {{ $now | Quote }}
        status: "True"
        type: {{ $type }}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - image: {{ .image | Quote }}
        imageID: ""
        name: {{ .name | Quote }}
        ready: true
        restartCount: 0
        state: { running: { startedAt: {{ $now | Quote }} } }
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      {{ $m := .metadata }}
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or $m.uid "" ) ( or $m.name "" ) | Quote }}
      phase: Running
      startTime: {{ $now | Quote }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-fails
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchExpressions:
    - key: '.metadata.labels["fails"]'
      operator: In
      values: ["true"]
    - { key: .status.phase, operator: In, values: [Running] }
  delay:
    durationMilliseconds: 60000
    durationFrom: { expressionFrom: '.metadata.annotations["example.com/delay"]' }
  next:
    patches:
    - subresource: status
      root: status
      type: merge
      template: |
        phase: Failed
        reason: Chaos
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-delete
spec:
  resourceRef: { apiGroup: v1, kind: Pod }
  selector:
    matchExpressions:
    - { key: .metadata.deletionTimestamp, operator: Exists }
  next:
    finalizers: { empty: true }
    delete: true
`

const pod = (name: string, labels: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    labels,
    annotations: { 'example.com/delay': '50ms' },
    finalizers: ['example.com/hold'],
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i:1' }] },
})
const at = (name: string) => ({ namespace: 'default', name })

test('matching stages are executed, and other pods have the default lifecycle', async (t) => {
  const client = clientFor(t, await testCluster(t, { nodes: { count: 1, stages } }))
  await client.create(pods, pod('staged', { staged: 'true' }))
  await client.create(pods, pod('chaos', { staged: 'true', fails: 'true' }))
  await client.create(pods, pod('usual', {}))
  const isRunning = (one: Pod | undefined): boolean => one?.status?.phase === 'Running'
  const staged = await waitFor(client, pods, at('staged'), isRunning)
  assert.match(staged?.status?.podIP ?? '', /^10\./)
  // The template writes less than a kubelet.
  assert.equal(staged?.status?.containerStatuses?.[0]?.containerID, undefined)
  assert.match(
    (await waitFor(client, pods, at('usual'), isRunning))?.status?.containerStatuses?.[0]?.containerID ?? '',
    /^simulated:/,
  )
  const failed = await waitFor(client, pods, at('chaos'), (one) => one?.status?.phase === 'Failed')
  assert.equal(failed?.status?.reason, 'Chaos')
  await eventually('the event of the stage', async () =>
    (await client.list(events, { namespace: 'default' })).items.some(({ reason }) => reason === 'Staged'),
  )
  for (const name of ['staged', 'chaos', 'usual']) await client.delete(pods, 'default', name)
  for (const name of ['staged', 'chaos', 'usual']) await waitFor(client, pods, at(name), isDeleted)
})

const stage = (name: string, kind: string, spec: string): string =>
  `---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: { name: ${name} }\nspec:\n  resourceRef: { ` +
  `apiGroup: v1, kind: ${kind} }\n${spec}`

const nodeStages = [
  stage(
    'node-begins',
    'Node',
    `
  selector:
    matchExpressions:
    - { key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: NotIn, values: ["True"] }
    - { key: '.metadata.labels["example.com/broken"]', operator: DoesNotExist }
  next:
    statusTemplate: |
      conditions:
      {{ range NodeConditions }}
      - type: {{ .type | Quote }}
        status: {{ .status | Quote }}
        reason: {{ .reason | Quote }}
        message: {{ printf "%s on %s" .message NodeName | Quote }}
      {{ end }}
      allocatable:
      {{ with .status.allocatable }}
      {{ YAML . 1 }}
      {{ end }}
      phase: Running
`,
  ),
  stage(
    'node-breaks',
    'Node',
    `
  selector:
    matchExpressions:
    - { jq: { key: '.metadata.labels["example.com/broken"]', operator: In, values: ["true"] } }
    - { jq: { key: '.status.conditions[] | select(.type == "Ready") | .status', operator: In, values: ["True"] } }
  delay:
    durationMilliseconds: 60000
    durationFrom: { jq: { expression: '.metadata.annotations["example.com/delay"]' } }
  weight: 1000
  steps:
  - event: { type: Warning, reason: Broken, message: 'node {{ .metadata.name }} breaks' }
  - patch:
      root: status
      subresource: status
      template: |
        conditions:
        - type: Ready
          status: "False"
          reason: nodeFailed
          message: {{ index .metadata.annotations "example.com/why" | Quote }}
  - patch:
      type: merge
      root: metadata
      template: |
        annotations: { example.com/broke: {{ Now | Quote }} }
`,
  ),
  stage(
    'node-waits',
    'Node',
    `
  selector:
    matchExpressions:
    - { key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: In, values: ["True"] }
  delay: { durationMilliseconds: 600000 }
  weight: 1
  next: { statusTemplate: "phase: Pending" }
`,
  ),
].join('')

test('nodes go through stages, which own their status', async (t) => {
  const client = clientFor(t, await testCluster(t, { nodes: { count: 2, stages: nodeStages } }))
  const ready = (node: Node | undefined) => node?.status?.conditions?.find(({ type }) => type === 'Ready')
  const begun = await waitFor(
    client,
    nodes,
    { name: 'node-1' },
    (node) => ready(node)?.status === 'True' && node?.status?.phase === 'Running',
  )
  assert.equal(ready(begun)?.message, 'kubelet is posting ready status on node-1')
  assert.equal(begun?.status?.allocatable?.cpu, '4')
  // A stage in its delay is replaced by one that matches later.
  const annotations = { 'example.com/delay': '50ms', 'example.com/why': 'out of order' }
  await client.patch(
    nodes,
    '',
    'node-1',
    { metadata: { labels: { 'example.com/broken': 'true' }, annotations } },
    'merge',
  )
  const broken = await waitFor(
    client,
    nodes,
    { name: 'node-1' },
    (node) => node?.metadata.annotations?.['example.com/broke'] !== undefined,
  )
  assert.deepEqual(
    [ready(broken)?.status, ready(broken)?.reason, ready(broken)?.message],
    ['False', 'nodeFailed', 'out of order'],
  )
  await eventually('the event of the stage', async () =>
    (await client.list(events, { namespace: 'default' })).items.some(
      ({ reason, message }) => reason === 'Broken' && message === 'node node-1 breaks',
    ),
  )
  assert.equal(ready(await client.get(nodes, '', 'node-2'))?.status, 'True')
  // Simulated failures take precedence over stages.
  const fail = (how: string | null) =>
    client.patch(
      nodes,
      '',
      'node-2',
      { metadata: { annotations: { 'simulation.typernetes.io/failure': how } } },
      'merge',
    )
  await fail('memory-pressure')
  const pressed = (node: Node | undefined) =>
    node?.status?.conditions?.find(({ type }) => type === 'MemoryPressure')?.status
  await waitFor(client, nodes, { name: 'node-2' }, (node) => pressed(node) === 'True')
  await fail(null)
  await waitFor(
    client,
    nodes,
    { name: 'node-2' },
    (node) => pressed(node) === 'False' && ready(node)?.status === 'True',
  )
})

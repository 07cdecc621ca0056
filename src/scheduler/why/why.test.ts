import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../client/connection/connection.ts'
import type { Node, Pod } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { inTreePlugins } from '../plugins/index.ts'
import { aNode, aPod, withRequests } from '../testing/objects.fixture.ts'
import { amountText } from './amount-text.ts'
import { DryRun } from './dry-run.ts'
import { explainPod, podVerdictData } from './explain.ts'

const profile = 'default-scheduler'
const plugins = [
  'PrioritySort',
  'SchedulingGates',
  'NodeName',
  'NodeUnschedulable',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'NodeResourcesBalancedAllocation',
  'PodTopologySpread',
  'InterPodAffinity',
  'DefaultBinder',
].map((name) => ({ name }))

async function judge(pod: Pod, nodes: readonly Node[], pods: readonly Pod[] = []) {
  const enabled = [...plugins, { name: 'TaintToleration', weight: 3 }]
  const client = new RestClient(new Connection({ url: 'https://127.0.0.1:0' }))
  const run = new DryRun(
    { schedulerName: profile, plugins: { multiPoint: { enabled } }, args: new Map() },
    inTreePlugins,
    client,
  )
  await run.cluster.read(async () => [])
  return run.verdict(pod, nodes, pods)
}

async function explain(pod: Pod, nodes: readonly Node[], pods: readonly Pod[] = []): Promise<string> {
  return explainPod(pod, await judge(pod, nodes, pods), profile).lines.join('\n')
}

const small = aNode('small', { allocatable: { cpu: '1', memory: '1Gi' } })
const tainted = aNode('tainted', {
  labels: { disk: 'hdd' },
  spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
})
const there = (name: string, node: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod =>
  aPod(name, { ...spec, nodeName: node })

test('a pod that fits nowhere gets all rejections, and what would help', async () => {
  const pod = aPod('web', { ...withRequests({ cpu: '2', memory: '512Mi' }), nodeSelector: { disk: 'ssd' } })
  const busy = there('busy', 'small', withRequests({ cpu: '250m' }))
  assert.equal(
    await explain(pod, [small, tainted], [busy]),
    `pod default/web is pending: 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.
  no scheduler has reported on it: is a scheduler named default-scheduler running?

It does not fit on 2 of 2 nodes:
  small
    NodeAffinity: node(s) didn't match Pod's node affinity/selector
      the node needs the label disk=ssd (it has none)
    NodeResourcesFit: Insufficient cpu
      needs 1250m more CPU: 750m of 1 is free (requested: 2)
  tainted
    NodeAffinity: node(s) didn't match Pod's node affinity/selector
      the node needs the label disk=ssd (it has disk=hdd)
    TaintToleration: node(s) had untolerated taint(s)
      tolerate gpu=yes:NoSchedule, or remove the taint: kubectl taint nodes tainted gpu:NoSchedule-`,
  )
})

test('a pod that fits gets the weighted scores of each plug-in, the best node first', async () => {
  const text = await explain(aPod('web', withRequests({ cpu: '1', memory: '1Gi' })), [small, aNode('large')])
  assert.match(text, /^pod default\/web would be scheduled to node large\n/)
  assert.match(
    text,
    /It fits on 2 of 2 .*:\n {2}large: 454 = NodeResourcesFit 84 \+ .*TaintToleration 100×3\n {2}small: 375 = /,
  )
})

test('pods with a node, with gates, of another scheduler, and ended pods are explained', async () => {
  const nodes = [aNode('n')]
  assert.match(
    await explain({ ...there('p', 'n'), status: { phase: 'Running' } }, nodes),
    /^pod default\/p is on node n\n {2}below .* no node\n\nIt fits on 1 of 1 node/,
  )
  assert.match(await explain(there('p', 'gone'), nodes), /is on node gone, which does not exist/)
  const gated = aPod('p', { schedulingGates: [{ name: 'example.com/quota' }] })
  const explained = await explain(gated, nodes)
  assert.match(
    explained,
    /^pod default\/p is not queued for scheduling: waiting for scheduling gates: \[example\.com\/quota\]\n/,
  )
  assert.match(explained, /kubectl patch pod -n default p --type=json[\s\S]*It fits on 1 of 1 node/)
  assert.equal(explainPod(gated, await judge(gated, nodes), profile).isPlaceable, false)
  assert.match(await explain(aPod('p', { schedulerName: 'mine' }), nodes), /its scheduler mine may decide differently/)
  assert.match(
    await explain({ ...aPod('p'), status: { phase: 'Succeeded' } }, nodes),
    /^pod default\/p has ended \(Succeeded\)/,
  )
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/1 nodes are available: …',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  assert.match(
    await explain({ ...aPod('p'), status: { conditions: [condition] } }, nodes),
    /the scheduler reported at 2026-01-01T00:00:00Z: 0\/1 nodes/,
  )
  assert.match(await explain(aPod('p'), []), /^pod default\/p is pending: no nodes available to schedule pods/)
})

test('ports, names, cordons, terms and resources are explained', async () => {
  const ports = [{ containerPort: 80, hostPort: 80 }]
  const pod = aPod('p', {
    priority: 10,
    containers: [
      { name: 'c', image: 'i', ports, resources: { requests: { cpu: '4', 'example.com/gpu': '1', memory: '20Gi' } } },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'zone', operator: 'In', values: ['a', 'b'] },
                { key: 'cores', operator: 'Gt', values: ['8'] },
              ],
            },
            { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['m'] }] },
          ],
        },
      },
    },
  })
  const cordoned = aNode('n', { labels: { zone: 'c' }, spec: { unschedulable: true } })
  const text = await explain(
    pod,
    [cordoned],
    [there('q', 'n', { containers: [{ name: 'c', image: 'i', ports, resources: { requests: { cpu: '1' } } }] })],
  )
  for (const line of [
    'the node is cordoned: kubectl uncordon n, or tolerate node.kubernetes.io/unschedulable',
    'the node needs the label zone in (a, b) (it has zone=c) and the label cores > 8 (it has none)',
    'or the name in (m) (it is n)',
    'pod default/q uses port 80/TCP',
    'needs 1 more CPU: 3 of 4 are free (requested: 4)',
    'needs 4Gi more memory: 16Gi of 16Gi is free (requested: 20Gi)',
    'the node has no example.com/gpu: the pod requests 1',
  ])
    assert.ok(text.includes(`\n      ${line}`), `${line} in:\n${text}`)
})

test('missing neighbours, forbidden neighbours, and domains over maxSkew are named', async () => {
  const zone = 'topology.kubernetes.io/zone'
  const [a, b] = [aNode('a', { labels: { [zone]: 'x' } }), aNode('b', { labels: { [zone]: 'x' } })]
  const term = (app: string) => ({ topologyKey: zone, labelSelector: { matchLabels: { app } } })
  const required = (app: string) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(app)] })
  const labelled = (name: string, node: string, app: string, spec: object = {}): Pod =>
    aPod(name, { nodeName: node, ...spec }, { labels: { app } })
  const web = (spec: Partial<NonNullable<Pod['spec']>>): Pod => aPod('web', spec, { labels: { app: 'web' } })
  const spread = {
    maxSkew: 1,
    topologyKey: zone,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'web' } },
  }
  const cases: [Pod, Pod[], string][] = [
    [
      web({ affinity: { podAffinity: required('db') } }),
      [],
      `podAffinity needs a pod with app=db in ${zone}=x, and there is none`,
    ],
    [
      web({ affinity: { podAntiAffinity: required('db') } }),
      [labelled('db-0', 'b', 'db')],
      `podAntiAffinity forbids pods with app=db in ${zone}=x: default/db-0`,
    ],
    [
      web({}),
      [labelled('shy', 'b', 'db', { affinity: { podAntiAffinity: required('web') } })],
      `podAntiAffinity of pod default/shy in ${zone}=x forbids this pod`,
    ],
    [
      web({ topologySpreadConstraints: [{ ...spread, minDomains: 2 }] }),
      [labelled('web-0', 'a', 'web')],
      `${zone}=x has 1 matching pod, and the minimum counts as 0 with fewer than 2 domains (minDomains): ` +
        'maxSkew allows a difference of 1',
    ],
    [
      web({ topologySpreadConstraints: [{ ...spread, topologyKey: 'rack' }] }),
      [],
      'the node lacks the label rack, a topologyKey of its topologySpreadConstraints',
    ],
  ]
  for (const [pod, pods, line] of cases) {
    const text = await explain(pod, [a, b], pods)
    assert.ok(text.includes(`\n      ${line}`), `${line} in:\n${text}`)
  }
})

test('preemption is suggested where it may help against all rejections', async () => {
  const nodes = [aNode('n')]
  const weak = [
    there('a', 'n', withRequests({ cpu: '2' })),
    there('b', 'n', { ...withRequests({ cpu: '1' }), priority: 10 }),
  ]
  const strong = (more: object = {}): Pod => aPod('p', { ...withRequests({ cpu: '2' }), priority: 5, ...more })
  assert.match(await explain(strong(), nodes, weak), /\n {4}preemption may help: 1 pod has a lower priority$/)
  assert.doesNotMatch(await explain(strong({ preemptionPolicy: 'Never' }), nodes, weak), /preemption/)
  assert.doesNotMatch(await explain(strong({ nodeSelector: { disk: 'ssd' } }), nodes, weak), /preemption/)
})

test('nodes with the same reasons are grouped, those with the fewest rejections first', async () => {
  const cordoned = Array.from({ length: 8 }, (_, i) => aNode(`c${i}`, { spec: { unschedulable: true } }))
  const text = await explain(aPod('p', withRequests({ cpu: '2' })), [
    { ...small, spec: { unschedulable: true } },
    ...cordoned,
  ])
  assert.match(text, /9 of 9 nodes:\n {2}c0, c1, c2, c3, c4 and 3 more\n/)
  assert.match(text, /\n {6}the node is cordoned: kubectl uncordon NODE, .*\n {2}small\n/)
})

test('podVerdictData has all nodes, reasons and remedies', async () => {
  const pod = aPod('p', withRequests({ cpu: '2' }))
  const data = podVerdictData(pod, await judge(pod, [small, aNode('large')]), profile)
  const { nodes } = JSON.parse(JSON.stringify(data)) as {
    nodes: { name: string; fits: boolean; total?: number; refusals?: object[] }[]
  }
  assert.deepEqual(
    nodes.map(({ name, fits }) => [name, fits]),
    [
      ['large', true],
      ['small', false],
    ],
  )
  assert.ok((nodes[0]?.total ?? 0) > 300)
  assert.deepEqual(nodes[1]?.refusals, [
    {
      plugin: 'NodeResourcesFit',
      reasons: ['Insufficient cpu'],
      remedies: ['needs 1 more CPU: 1 of 1 is free (requested: 2)'],
    },
  ])
})

test('amounts are formatted with the units that people use', () => {
  const cases: [string, number, string][] = [
    ['cpu', 1500, '1500m'],
    ['cpu', 2000, '2'],
    ['memory', 512 * 1024 * 1024, '512Mi'],
    ['memory', 1.5 * 1024 ** 3, '1.5Gi'],
    ['memory', 1000, '1000'],
    ['memory', 1024 ** 3 + 1, '1.01Gi'],
    ['example.com/gpu', 3, '3'],
  ]
  for (const [resource, amount, expected] of cases) assert.equal(amountText(resource, amount), expected)
})

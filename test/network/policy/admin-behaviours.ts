/** Policies of administrators (AdminNetworkPolicy, its baseline, ClusterNetworkPolicy), created with kubectl. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { repository } from '../../up/t8s-process.ts'
import { adminDefinitions } from './admin-definitions.ts'
import { type PolicyLab, policyRules, type Traffic } from './policy-lab.ts'
import { startTrafficPods } from './traffic-behaviours.ts'

const names = ['x/a', 'x/b', 'y/a', 'node'] as const
/** Without the node to itself. */
const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const))

const udp4: Traffic = { protocol: 'udp', family: 4, port: 80 }
const tcp6: Traffic = { protocol: 'tcp', family: 6, port: 80 }
const both = [udp4, tcp6] as const

const group = 'policy.networking.k8s.io'
const everywhere = { namespaces: {} }
const inNamespace = (ns: string) => ({ namespaces: { matchLabels: { ns } } })
const pods = (ns: string, pod: string) => ({
  pods: { namespaceSelector: { matchLabels: { ns } }, podSelector: { matchLabels: { pod } } },
})
const of = (pod: string) => ({ podSelector: { matchLabels: { pod } } })

type Rule = Readonly<Record<string, unknown>>

const cluster = (name: string, tier: string, priority: number, spec: object) => ({
  apiVersion: `${group}/v1alpha2`,
  kind: 'ClusterNetworkPolicy',
  metadata: { name },
  spec: { tier, priority, subject: inNamespace('x'), ...spec },
})
const admin = (name: string, priority: number, spec: object) => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'AdminNetworkPolicy',
  metadata: { name },
  spec: { priority, subject: inNamespace('x'), ...spec },
})
const baseline = (spec: object) => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'BaselineAdminNetworkPolicy',
  metadata: { name: 'default' },
  spec: { subject: inNamespace('x'), ...spec },
})
const networkPolicy = (name: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace: 'x' },
  spec,
})
const from = (action: string, peer: object, rest: Rule = {}) => ({ action, from: [peer], ...rest })
const to = (action: string, peer: object, rest: Rule = {}) => ({ action, to: [peer], ...rest })

/** Traffic, and the pairs that it does not connect: `x/a>y/a`. */
type Expected = readonly [Traffic, RegExp | undefined]

class AdminLab {
  readonly #lab: PolicyLab
  readonly kubectl: Kubectl

  constructor(lab: PolicyLab) {
    const [program] = installedKubectls()
    assert.ok(program, 'kubectl is installed')
    this.#lab = lab
    this.kubectl = new Kubectl(program, lab.cluster.kubeconfigFile, lab.folder, 'x')
  }

  apply(objects: readonly object[]): Promise<string> {
    return this.kubectl.ok('apply -f -', undefined, { input: list(objects) })
  }

  delete(objects: readonly object[]): Promise<string> {
    return this.kubectl.ok('delete --wait=false -f -', undefined, { input: list(objects) })
  }

  async connected(traffic: Traffic): Promise<string[]> {
    const found = await Promise.all(
      pairs.map(async ([one, other]) => ((await this.#lab.reachesBy(one, other, traffic)) ? [`${one}>${other}`] : [])),
    )
    return found.flat()
  }

  /** Resolves when exactly the expected pairs are connected. */
  async eventually(expected: readonly Expected[]): Promise<void> {
    const wanted = expected.map(([, cut]) => pairs.map((pair) => pair.join('>')).filter((pair) => !cut?.test(pair)))
    const found = () => Promise.all(expected.map(([traffic]) => this.connected(traffic)))
    try {
      await waitFor(
        'the policies are in effect',
        async () => JSON.stringify(await found()) === JSON.stringify(wanted),
        {
          deadlineMs: 10_000,
        },
      )
    } catch {
      assert.deepEqual(await found(), wanted, `${this.#lab.log.join('\n')}\n${policyRules()}`)
    }
  }

  /** Applies policies, waits for their effect, and deletes them. */
  async holds(objects: readonly object[], expected: readonly Expected[]): Promise<void> {
    try {
      await this.apply(objects)
      await this.eventually(expected)
    } finally {
      await this.delete(objects)
      await waitFor('all rules are removed', () => policyRules() === '', { everyMs: 100 })
    }
  }
}

const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })

const onBoth = (cut: RegExp | undefined): Expected[] => both.map((one) => [one, cut])

function testTiers(lab: AdminLab): void {
  test('the admin tier denies what a NetworkPolicy allows, and accepts what one denies', async () => {
    const open = networkPolicy('open', { podSelector: {}, ingress: [{}] })
    const closed = networkPolicy('closed', { ...of('b'), policyTypes: ['Ingress'] })
    const rules = [from('Deny', inNamespace('y')), from('Accept', pods('x', 'a'))]
    await lab.holds([open, closed, cluster('p', 'Admin', 10, { ingress: rules })], onBoth(/^y\/a>x/))
  })
  test('Pass leads to NetworkPolicies, and to the baseline of pods without them', async () => {
    const open = networkPolicy('open', { ...of('a'), ingress: [{}] })
    const pass = cluster('pass', 'Admin', 5, { ingress: [from('Pass', pods('x', 'a'))] })
    const deny = cluster('deny', 'Admin', 6, { ingress: [from('Deny', pods('x', 'a'))] })
    const base = cluster('base', 'Baseline', 5, { ingress: [from('Deny', everywhere)] })
    await lab.holds([open, pass, deny, base], onBoth(/^(x|y)\/.>x\/b/))
  })
  test('rules have an order, by priority, then by name, then in the policy', async () => {
    const policies = [
      cluster('late', 'Admin', 1000, { ingress: [from('Deny', everywhere)] }),
      cluster('b', 'Admin', 7, { ingress: [from('Deny', pods('x', 'b'))] }),
      cluster('a', 'Admin', 7, { ingress: [from('Accept', pods('x', 'b')), from('Deny', pods('x', 'b'))] }),
    ]
    await lab.holds(policies, onBoth(/^(x\/a|y\/a)>x/))
  })
  test('a BaselineAdminNetworkPolicy holds without NetworkPolicies, after a ClusterNetworkPolicy', async () => {
    const pass = cluster('pass', 'Baseline', 1000, { ingress: [from('Pass', pods('x', 'b'))] })
    await lab.holds([pass, baseline({ ingress: [from('Deny', everywhere)] })], onBoth(/^(x\/a|y\/a)>x/))
  })
}

function testRules(lab: AdminLab): void {
  const on = (port: number): Traffic[] => both.map((one) => ({ ...one, port }))
  test('ports are numbers, ranges and names of both forms, in both directions', async () => {
    const tcp = { protocol: 'TCP' }
    const older = admin('older', 1, {
      ingress: [
        from('Allow', everywhere, { ports: [{ portRange: { ...tcp, start: 81, end: 82 } }, { namedPort: 'web' }] }),
        from('Deny', everywhere),
      ],
    })
    const accepted = [{ destinationNamedPort: 'web-udp' }, { tcp: {} }, { udp: { destinationPort: { number: 82 } } }]
    const newer = cluster('newer', 'Admin', 1, {
      egress: [to('Accept', everywhere, { protocols: accepted }), to('Deny', everywhere)],
    })
    const [udp80, tcp80] = on(80) as [Traffic, Traffic]
    const [udp82, tcp82] = on(82) as [Traffic, Traffic]
    await lab.holds(
      [older, newer],
      [
        // The name web is of TCP only.
        [udp80, /^(x|y)\/.>x/],
        [tcp80, undefined],
        [udp82, /^(x|y)\/.>x/],
        [tcp82, undefined],
        [{ ...udp4, port: 81 }, /^(x\/.>(x|y)|y\/.>x)/],
      ],
    )
  })
  test('networks and nodes are peers of egress; the node reaches pods always', async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'here', labels: { role: 'gateway' } },
    }
    await lab.apply([node])
    const addresses = ['10.244.0.1', 'fd00:244::1'].map((address) => ({ type: 'InternalIP', address }))
    await lab.kubectl.ok(
      `patch node here --subresource status --type merge -p '${JSON.stringify({ status: { addresses } })}'`,
    )
    const deny = (peer: object) => cluster('p', 'Admin', 1, { subject: pods('x', 'a'), egress: [to('Deny', peer)] })
    await lab.holds([deny({ nodes: { matchLabels: { role: 'gateway' } } })], onBoth(/^x\/a>node/))
    await lab.holds([deny({ networks: ['10.244.0.0/24', 'fd00:244::/112'] })], onBoth(/^x\/a>/))
    const all = { ingress: [from('Deny', everywhere)] }
    await lab.holds([cluster('p', 'Admin', 1, all)], onBoth(/^(x|y)\/.>x/))
    await lab.delete([node])
  })
}

/** The cluster is in this process, which must not wait for the command. */
const why = (lab: PolicyLab, source: string): Promise<string> =>
  new Promise((resolve) => {
    const args = ['why', 'network', source, '→', 'a:80', '-n', 'x', '--kubeconfig', lab.cluster.kubeconfigFile]
    execFile(`${repository}/t8s`, args, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`))
  })

function testChanges(lab: PolicyLab, admins: AdminLab): void {
  test('policies hold from the first packet of a pod, and are explained', async () => {
    const pass = { ...from('Pass', pods('x', 'b')), name: 'friends' }
    const rules = [pass, { ...from('Deny', everywhere), name: 'others' }]
    const policy = cluster('guard', 'Admin', 3, { ingress: rules })
    const invalid = admin('broken', 2, { ingress: [from('Allow', { clouds: {} })] })
    await admins.apply([policy, invalid])
    await admins.eventually(onBoth(/^(x\/a|y\/a)>x/))
    const late = await lab.pod('y', 'late')
    await lab.startPeer(late)
    for (const traffic of both) assert.equal(await lab.reachesBy('y/late', 'x/a', traffic), false)
    assert.match(
      lab.log.join('\n'),
      /AdminNetworkPolicy broken: ingress rule 1 has no effect: a peer has none of the f/,
    )
    assert.match(
      await why(lab, 'y/late'),
      /^y\/late must not reach x\/a on TCP 80\n[\s\S]*denied by ClusterNetworkPolicy guard, rule 2 \(others\)/,
    )
    assert.match(await why(lab, 'b'), /^x\/b may reach x\/a on TCP 80\n[\s\S]*rule 1 \(friends\) passes it on/)
    await admins.delete([policy, invalid])
    await admins.eventually(onBoth(undefined))
  })
  test('policies end with their definition, and hold again with a new one', async () => {
    const policy = cluster('guard', 'Admin', 3, { ingress: [from('Deny', everywhere)] })
    await admins.apply([policy])
    await admins.eventually([[udp4, /^(x|y)\/.>x/]])
    await lab.restartAgent(async () => {
      await admins.delete(adminDefinitions)
      await admins.kubectl.ok('wait --for=delete crd -l none=none --timeout=10s')
    })
    await waitFor('all rules are removed', () => policyRules() === '')
    await admins.eventually([[udp4, undefined]])
    await waitFor('the definitions are created', () =>
      admins.apply(adminDefinitions).then(
        () => admins.apply([policy]).then(Boolean, () => false),
        () => false,
      ),
    )
    await admins.eventually([[udp4, /^(x|y)\/.>x/]])
    await admins.delete(adminDefinitions)
    await waitFor('all rules are removed', () => policyRules() === '')
    assert.doesNotMatch(lab.log.join('\n'), /cannot watch/)
  })
}

/** Starts pods and a program of the node. */
export async function startAdminPods(lab: PolicyLab): Promise<void> {
  await startTrafficPods(lab)
  await lab.startNode()
}

export function testAdminPolicies(lab: PolicyLab): void {
  const admins = new AdminLab(lab)
  test('nothing fails without definitions, which may be installed at any time', async () => {
    await admins.eventually(onBoth(undefined))
    assert.deepEqual(lab.log, [])
    await admins.apply(adminDefinitions)
    await admins.kubectl.ok('wait --for=condition=Established crd --all')
  })
  testTiers(admins)
  testRules(admins)
  testChanges(lab, admins)
}

/** Tiers and peers, with definitions that are installed before. */
export function testAdminRules(lab: PolicyLab): void {
  const admins = new AdminLab(lab)
  test('definitions are installed', async () => {
    await admins.apply(adminDefinitions)
    await admins.kubectl.ok('wait --for=condition=Established crd --all')
  })
  testTiers(admins)
  testRules(admins)
}

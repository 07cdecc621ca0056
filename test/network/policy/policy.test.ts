/** Network policies hold between pods of a node, by the behaviours of upstream's conformance tests. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { repository } from '../../up/t8s-process.ts'
import { PolicyLab } from './policy-lab.ts'

const all = { podSelector: {} }
const of = (pod: string) => ({ podSelector: { matchLabels: { pod } } })
const inNamespace = (ns: string) => ({ namespaceSelector: { matchLabels: { ns } } })
const names = ['x/a', 'x/b', 'y/a', 'y/b'] as const

/** The pairs that are connected: `x/a>y/b`, without those of a pod with itself. */
async function matrix(lab: PolicyLab, port = 80): Promise<ReadonlySet<string>> {
  const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const))
  const found = await Promise.all(
    pairs.map(async ([from, to]) => ((await lab.reaches(from, to, port)) ? `${from}>${to}` : '')),
  )
  return new Set(found.filter(Boolean))
}

/** True while there is a policy in effect. */
const hasTable = (): boolean => execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).includes('t8s_policy')

/** Creates a policy in `x`, and compares who is cut off once it is in effect. `cut` has pairs of patterns. */
async function cuts(lab: PolicyLab, spec: object, cut: readonly RegExp[], port = 80): Promise<void> {
  await waitFor('no rule of an earlier policy is left', () => !hasTable())
  await lab.policy('x', 'tested', spec)
  await waitFor('the rules are in the kernel', hasTable)
  const expected = names
    .flatMap((from) => names.filter((to) => to !== from).map((to) => `${from}>${to}`))
    .filter((pair) => !cut.some((pattern) => pattern.test(pair)))
  try {
    await waitFor(
      'the policy is in effect',
      async () => {
        const found = await matrix(lab, port)
        return expected.length === found.size && expected.every((pair) => found.has(pair))
      },
      { deadlineMs: 15_000 },
    )
  } catch {
    assert.deepEqual([...(await matrix(lab, port))].sort(), expected.sort(), lab.log.join('\n'))
  } finally {
    await lab.removePolicies()
  }
}

function testIngress(lab: PolicyLab): void {
  test('a policy without rules denies all ingress to the pods that it selects', async () => {
    await cuts(lab, { ...of('a'), policyTypes: ['Ingress'] }, [/>x\/a$/])
  })
  test('a rule without peers allows everybody', async () => {
    await cuts(lab, { ...all, ingress: [{}] }, [])
  })
  test('peers are pods of the namespace, pods of others by both selectors, and whole namespaces', async () => {
    await cuts(lab, { ...of('a'), ingress: [{ from: [of('b')] }] }, [/^y\/.>x\/a$/])
    await cuts(lab, { ...of('a'), ingress: [{ from: [{ ...of('b'), ...inNamespace('y') }] }] }, [/^(x\/b|y\/a)>x\/a$/])
    await cuts(lab, { ...of('a'), ingress: [{ from: [inNamespace('y')] }] }, [/^x\/b>x\/a$/])
  })
  test('ports are numbers, ranges and names', async () => {
    await cuts(lab, { ...of('a'), ingress: [{ ports: [{ port: 80 }] }] }, [])
    await cuts(lab, { ...of('a'), ingress: [{ ports: [{ port: 81 }] }] }, [/>x\/a$/])
    await cuts(lab, { ...of('a'), ingress: [{ ports: [{ port: 79, endPort: 90 }] }] }, [], 81)
    await cuts(lab, { ...of('a'), ingress: [{ ports: [{ port: 'web' }] }] }, [])
    await cuts(lab, { ...of('a'), ingress: [{ ports: [{ port: 'web' }] }] }, [/>x\/a$/], 81)
    await cuts(lab, { ...of('a'), ingress: [{ ports: [{ protocol: 'UDP', port: 80 }] }] }, [/>x\/a$/])
  })
}

function testEgress(lab: PolicyLab): void {
  test('a policy for egress without rules denies all egress', async () => {
    await cuts(lab, { ...of('a'), policyTypes: ['Egress'] }, [/^x\/a>/])
  })
  test('ranges of addresses have exceptions', async () => {
    const { address } = lab.pods.get('y/b')!
    const block = { cidr: '10.244.0.0/24', except: [`${address}/32`] }
    await cuts(lab, { ...of('a'), policyTypes: ['Egress'], egress: [{ to: [{ ipBlock: block }] }] }, [/^x\/a>y\/b$/])
  })
  test('a named port is that of the destination', async () => {
    const egress = [{ to: [inNamespace('y')], ports: [{ port: 'web' }] }]
    await cuts(lab, { ...of('a'), policyTypes: ['Egress'], egress }, [/^x\/a>x\/b$/])
  })
  test('a pod reaches itself', async () => {
    await lab.policy('x', 'tested', { ...all, policyTypes: ['Ingress', 'Egress'] })
    await waitFor('the policy is in effect', async () => !(await lab.reaches('y/a', 'x/a')))
    // Its server accepts one connection after another.
    await waitFor('the pod reaches itself', () => lab.reaches('x/a', 'x/a'))
    await lab.removePolicies()
  })
}

/** The cluster is in this process, which must not wait for the command. */
const why = (lab: PolicyLab, from: string): Promise<{ readonly code: number; readonly stdout: string }> =>
  new Promise((resolve) => {
    const words = ['why', 'network', from, '→', 'b:80', '-n', 'x', '--kubeconfig', lab.cluster.kubeconfigFile]
    execFile(`${repository}/t8s`, words, (error, stdout) => resolve({ code: Number(error?.code ?? 0), stdout }))
  })

function testChanges(lab: PolicyLab): void {
  test('policies add up, follow labels, and outlive their process', async () => {
    await lab.policy('x', 'deny', { ...of('a'), policyTypes: ['Ingress'] })
    await lab.policy('x', 'allow', {
      ...of('a'),
      ingress: [{ from: [{ podSelector: { matchLabels: { role: 'friend' } } }] }],
    })
    await waitFor('b is cut off', async () => !(await lab.reaches('x/b', 'x/a')))
    const label = (role: string | null) =>
      lab.cluster.call(
        'PATCH',
        '/api/v1/namespaces/x/pods/b',
        { metadata: { labels: { role } } },
        'application/merge-patch+json',
      )
    await label('friend')
    await waitFor('b is allowed', () => lab.reaches('x/b', 'x/a'))
    await lab.restartAgent(async () => {
      await waitFor('b is still allowed', () => lab.reaches('x/b', 'x/a'))
      assert.equal(await lab.reaches('y/b', 'x/a'), false)
      await label(null)
    })
    await waitFor('b is cut off again', async () => !(await lab.reaches('x/b', 'x/a')))
    await lab.removePolicies()
    await waitFor(
      'no rule is left',
      () => !execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).includes('t8s_policy'),
    )
  })

  test('a policy holds from the first packet of a pod, and what it allows passes at once', async () => {
    await lab.policy('x', 'deny', { ...all, policyTypes: ['Ingress', 'Egress'] })
    await lab.policy('x', 'allow', {
      podSelector: { matchLabels: { role: 'client' } },
      policyTypes: ['Egress'],
      egress: [{ to: [of('b')] }],
    })
    await lab.policy('x', 'allow-in', {
      ...of('b'),
      ingress: [{ from: [{ podSelector: { matchLabels: { role: 'client' } } }] }],
    })
    await waitFor('b is cut off', async () => !(await lab.reaches('x/a', 'x/b')))
    const refusal = await why(lab, 'a')
    assert.equal(refusal.code, 1)
    assert.match(
      refusal.stdout,
      /^x\/a must not reach x\/b on TCP 80\n[\s\S]*x\/allow-in does not .*\n.*pod=a, not role=client/,
    )
    for (let i = 0; i < 5; i++) {
      await lab.pod('x', `stranger-${i}`)
      await lab.pod('x', `client-${i}`, { role: 'client' })
      const [stranger, client] = await Promise.all(
        [`x/stranger-${i}`, `x/client-${i}`].map((name) => lab.reaches(name, 'x/b')),
      )
      assert.deepEqual([stranger, client], [false, true], `pods of round ${i}`)
    }
    assert.equal((await why(lab, 'x/client-0')).code, 0)
    await lab.removePolicies()
  })
}

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  const lab = await PolicyLab.start()
  for (const namespace of ['x', 'y']) {
    await lab.namespace(namespace)
    for (const name of ['a', 'b']) await lab.serve(await lab.pod(namespace, name))
  }
  testIngress(lab)
  testEgress(lab)
  testChanges(lab)
})

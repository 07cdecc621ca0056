/** Policies for TCP and UDP on both families, with ports by number, range and name, and for ranges of addresses. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { type PolicyLab, policyRules, type Traffic } from './policy-lab.ts'

const all = { podSelector: {} }
const of = (pod: string) => ({ podSelector: { matchLabels: { pod } } })
/** The pods of a lab for these tests. */
const names = ['x/a', 'x/b', 'y/a'] as const
const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const))

type Combination = Omit<Traffic, 'port'>

const allCombinations: readonly Combination[] = [
  { protocol: 'udp', family: 4 },
  { protocol: 'tcp', family: 6 },
  { protocol: 'udp', family: 6 },
]

/** Traffic, and the pairs that it does not connect: `x/a>y/a`. */
type Expected = readonly [Traffic, RegExp | undefined]

async function connected(lab: PolicyLab, traffic: Traffic): Promise<string[]> {
  const found = await Promise.all(
    pairs.map(async ([from, to]) => ((await lab.reachesBy(from, to, traffic)) ? [`${from}>${to}`] : [])),
  )
  return found.flat()
}

/** Creates a policy in `x`, and compares who is connected once it is in effect. */
async function holds(lab: PolicyLab, spec: object, expected: readonly Expected[]): Promise<void> {
  const wanted = expected.map(([traffic, cut]) => ({
    traffic,
    pairs: pairs.map(([from, to]) => `${from}>${to}`).filter((pair) => !cut?.test(pair)),
  }))
  const found = async () =>
    Promise.all(expected.map(async ([traffic]) => ({ traffic, pairs: await connected(lab, traffic) })))
  await waitFor('no rule of an earlier policy is left', () => policyRules() === '', { everyMs: 200 })
  await lab.policy('x', 'tested', spec)
  try {
    await waitFor('the policy is in effect', async () => JSON.stringify(await found()) === JSON.stringify(wanted), {
      deadlineMs: 10_000,
    })
  } catch {
    assert.deepEqual(await found(), wanted, lab.log.join('\n'))
  } finally {
    await lab.removePolicies()
  }
}

function testPorts(lab: PolicyLab, protocol: 'tcp' | 'udp', family: 4 | 6): void {
  const upper = protocol.toUpperCase()
  const other = protocol === 'tcp' ? 'udp' : 'tcp'
  const on = (port: number): Traffic => ({ protocol, family, port })
  test(`${upper} on IPv${family}: a port is allowed for its protocol only`, () =>
    holds(lab, { ...of('a'), ingress: [{ ports: [{ protocol: upper, port: 80 }] }] }, [
      [on(80), undefined],
      [on(81), />x\/a$/],
      [{ protocol: other, family, port: 80 }, />x\/a$/],
    ]))
  test(`${upper} on IPv${family}: a range of ports ends with endPort`, () =>
    holds(
      lab,
      { ...of('a'), policyTypes: ['Egress'], egress: [{ ports: [{ protocol: upper, port: 80, endPort: 81 }] }] },
      [
        [on(80), undefined],
        [on(81), undefined],
        [on(82), /^x\/a>/],
      ],
    ))
  const ports = [{ protocol: upper, port: protocol === 'tcp' ? 'web' : 'web-udp' }]
  test(`${upper} on IPv${family}: a named port is that of the pod`, () =>
    holds(lab, { ...of('a'), ingress: [{ from: [of('b')], ports }] }, [
      [on(80), /^y\/a>x\/a$/],
      [on(81), />x\/a$/],
    ]))
  test(`${upper} on IPv${family}: a named port is that of the destination`, () =>
    holds(lab, { ...of('a'), policyTypes: ['Egress'], egress: [{ to: [of('b')], ports }] }, [
      [on(80), /^x\/a>y\/a$/],
      [on(81), /^x\/a>/],
    ]))
}

function testRanges(lab: PolicyLab, combinations: readonly Combination[]): void {
  for (const { protocol, family } of combinations)
    test(`${protocol.toUpperCase()} on IPv${family}: a range of addresses has exceptions`, async () => {
      const cidr = family === 4 ? '10.244.0.0/24' : 'fd00:244::/112'
      const except = [`${lab.pods.get('x/b')!.addresses[family]}/${family === 4 ? 32 : 128}`]
      await holds(lab, { ...of('a'), ingress: [{ from: [{ ipBlock: { cidr, except } }] }] }, [
        [{ protocol, family, port: 80 }, /^x\/b>x\/a$/],
        [{ protocol, family: family === 4 ? 6 : 4, port: 80 }, />x\/a$/],
      ])
    })
}

function testBothFamilies(lab: PolicyLab): void {
  test('a policy without rules denies all protocols on both families', () =>
    holds(lab, { ...all, policyTypes: ['Ingress', 'Egress'] }, [
      ...allCombinations.map((one): Expected => [{ ...one, port: 80 }, /x\//]),
      [{ protocol: 'tcp', family: 4, port: 80 }, /x\//],
    ]))
  test('peers by label are pods with their addresses of both families', () =>
    holds(
      lab,
      { ...of('a'), ingress: [{ from: [of('b')] }] },
      allCombinations.map((one): Expected => [{ ...one, port: 80 }, /^y\/a>x\/a$/]),
    ))
  test('isolated pods find the hardware addresses of IPv6', async () => {
    await lab.policy('x', 'tested', {
      ...all,
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [all] }],
      egress: [{ to: [all] }],
    })
    await waitFor(
      'the policy is in effect',
      async () => !(await lab.reachesBy('x/a', 'y/a', { protocol: 'udp', family: 6, port: 80 })),
    )
    for (const { network } of lab.pods.values())
      execFileSync('nsenter', [`--net=${network}`, 'ip', '-6', 'neigh', 'flush', 'all'])
    assert.ok(await lab.reachesBy('x/a', 'x/b', { protocol: 'tcp', family: 6, port: 80 }))
    await lab.removePolicies()
  })
  test('a port of SCTP has a rule for its protocol, and allows no other', async () => {
    const ports = [{ protocol: 'SCTP', port: 80 }]
    await lab.policy('x', 'sctp', { ...all, policyTypes: ['Ingress'], ingress: [{ ports }] })
    await waitFor(
      'the policy is in effect',
      async () => !(await lab.reachesBy('x/b', 'x/a', { protocol: 'udp', family: 4, port: 80 })),
    )
    assert.equal(policyRules().match(/sctp.* 80 .*x\/sctp/g)?.length, 2, policyRules())
    assert.deepEqual(await connected(lab, { protocol: 'udp', family: 6, port: 80 }), ['x/a>y/a', 'x/b>y/a'])
    await lab.removePolicies()
  })
}

/** Starts three pods that serve, in `x` and `y`. */
export async function startTrafficPods(lab: PolicyLab): Promise<void> {
  for (const name of ['x', 'y']) await lab.namespace(name)
  await Promise.all(
    names.map(async (name) => {
      const [namespace = '', pod = ''] = name.split('/')
      await lab.startPeer(await lab.pod(namespace, pod))
    }),
  )
}

export function testTraffic(lab: PolicyLab, combinations: readonly Combination[] = allCombinations): void {
  test('pods reach each other without policies', async () => {
    for (const one of combinations)
      await waitFor('all are connected', async () => {
        const found = await connected(lab, { ...one, port: 80 })
        return found.length === pairs.length
      })
  })
  for (const { protocol, family } of combinations) testPorts(lab, protocol, family)
  testRanges(lab, combinations)
  testBothFamilies(lab)
}

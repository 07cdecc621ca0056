/** The program `t8s network-policy`, for pods whose addresses it learns from their status. Needs root. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type StartedProgram, startProgram } from '../../up/started-program.ts'
import { t8s } from '../../up/t8s-process.ts'
import { PolicyLab, policyRules, type Traffic } from './policy-lab.ts'

const health = 'http://127.0.0.1:10261/healthz'
const traffic: Traffic = { protocol: 'udp', family: 6, port: 80 }
const deny = { podSelector: { matchLabels: { pod: 'a' } }, policyTypes: ['Ingress'] }

async function page(url: string): Promise<string> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(3000) })
  return `${response.status} ${await response.text()}`
}

/** Starts the program; resolves when the policies are in effect. */
function startPolicies(t: TestContext, { cluster }: PolicyLab, ...flags: readonly string[]): Promise<StartedProgram> {
  const args = ['network-policy', '--kubeconfig', cluster.kubeconfigFile, '--hostname-override', 'here', ...flags]
  return startProgram(t, args, 'are in effect for the pods of the node here')
}

/** Writes a kubeconfig of a user who reads what NetworkPolicies need only. Returns its path. */
async function limitedKubeconfig({ cluster, folder }: PolicyLab): Promise<string> {
  const group = 'rbac.authorization.k8s.io'
  const metadata = { name: 'limited' }
  const verbs = ['list', 'watch']
  const rules = [
    { apiGroups: [''], resources: ['pods', 'namespaces'], verbs },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs },
  ]
  await cluster.call('POST', `/apis/${group}/v1/clusterroles`, { metadata, rules })
  await cluster.call('POST', `/apis/${group}/v1/clusterrolebindings`, {
    metadata,
    subjects: [{ kind: 'User', apiGroup: group, name: 'limited' }],
    roleRef: { kind: 'ClusterRole', apiGroup: group, name: 'limited' },
  })
  const file = join(folder, 'limited')
  const text = readFileSync(cluster.kubeconfigFile, 'utf8')
  writeFileSync(file, text.replace(/^( *)(client-certificate-data:)/m, '$1as: limited\n$1$2'), { mode: 0o600 })
  return file
}

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  const lab = await PolicyLab.start({ hasAgent: false })
  await lab.namespace('x')

  test('t8s network-policy isolates pods when they have an address, and leaves rules until --cleanup', async (t) => {
    await lab.policy('x', 'deny', deny)
    let program = await startPolicies(t, lab)
    for (const name of ['a', 'b']) await lab.startPeer(await lab.pod('x', name))
    const isCut = async (): Promise<boolean> => !(await lab.reachesBy('x/b', 'x/a', traffic))
    await waitFor('a is isolated', isCut)
    assert.ok(await lab.reachesBy('x/a', 'x/b', traffic))
    assert.equal(await page(health), '200 ok')
    const metrics = await page('http://127.0.0.1:10262/metrics')
    assert.match(metrics, /\nt8s_network_policy_sync_duration_seconds_count [1-9]/)
    assert.match(metrics, /\nt8s_network_policy_policies 1\n/)
    assert.match(metrics, /\nrest_client_requests_total\{.*code="200".*\} [1-9]/)

    // Rules outlive the program, and it removes those of policies that were deleted meanwhile.
    await program.stop()
    assert.ok(await isCut())
    await lab.removePolicies()
    program = await startPolicies(t, lab, '--network-policy-mode', 'iptables')
    await waitFor('a is not isolated', async () => !(await isCut()))
    await lab.policy('x', 'deny', deny)
    await waitFor('a is isolated again', isCut)
    assert.match(policyRules(), /^-A FORWARD .* -j T8S-NWPLCY-NODE-FORWARD$/m)
    assert.doesNotMatch(policyRules(), /table ip6? t8s_policy/)
    await program.stop()
    const { code, stderr } = t8s(['network-policy', '--cleanup'])
    assert.equal(code, 0, stderr)
    assert.equal(policyRules(), '')
    assert.equal(await isCut(), false)
  })

  test('t8s network-policy works without rights for policies of administrators', async (t) => {
    const kubeconfig = await limitedKubeconfig(lab)
    const args = ['network-policy', '--kubeconfig', kubeconfig, '--hostname-override', 'here']
    const program = await startProgram(t, args, 'are in effect for the pods of the node here')
    assert.match(program.output(), /AdminNetworkPolicy, ClusterNetworkPolicy\) are not read: the user may not list/)
    assert.equal(await lab.reachesBy('x/b', 'x/a', traffic), false)
    await program.stop()
    assert.equal(t8s(['network-policy', '--cleanup']).code, 0)
  })

  test('t8s network-policy names faults of its flags', () => {
    const { code, stderr } = t8s([
      ...['network-policy', '--kubeconfig', lab.cluster.kubeconfigFile, '--healthz-bind-address', 'everywhere'],
    ])
    assert.notEqual(code, 0)
    assert.match(stderr, /--healthz-bind-address everywhere is not an address: write it like 127\.0\.0\.1:10261/)
  })
})

/** Services of the real node of `t8s up`: pods, processes of the machine and the API server. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkFlannelDaemonSet, flannelFolders } from '../flannel/daemon-set.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { writeTestImages } from '../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, stop, t8s, temporaryFolder } from '../up/t8s-process.ts'
import { prepareMachine, startRealCluster } from './machine.ts'
import { answersByBoth, client, fromHost, fromPod, run, serviceField, web } from './service-cluster.ts'

const dns = '10.96.0.10'
const resolvConf = /^search default\.svc\.cluster\.local svc\..*\nnameserver 10\.96\.0\.10\noptions ndots:5$/m

/** True if a process of a pod cannot connect. */
const failsFromPod = (cluster: Running, address: string): boolean =>
  kubectl(cluster.kubeconfig, 'exec', 'client', '--', 'nc', '-w', '1', address, '80').code !== 0

const denyAll = JSON.stringify({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'deny' },
  spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'] },
})

/** A policy cuts pods off from the Service, but not the node, and not for longer than it exists. */
async function testPolicy(cluster: Running, folder: string, clusterIP: string): Promise<void> {
  const policies = join(folder, 'policies.json')
  writeFileSync(policies, denyAll)
  run(cluster, 'apply', '-f', policies)
  await waitFor('the policy is in effect', () => failsFromPod(cluster, clusterIP))
  assert.match(fromHost(clusterIP, '80'), /^web-/, 'the node reaches all pods')
  run(cluster, 'delete', '-f', policies)
  await answersByBoth('the cluster IP without the policy', () => fromPod(cluster, clusterIP, '80'))
}

await inNamespaces(import.meta.filename, () => {
  prepareMachine(flannelFolders)

  test('Services reach pods from pods and from the machine, by each kind of address', async (t) => {
    const folder = temporaryFolder(t)
    for (const file of writeTestImages(folder)) assert.equal(t8s(['image', 'import', file]).code, 0)
    const cluster = await startRealCluster(t, join(folder, 'data'), [])
    await waitFor('an account', () => kubectl(cluster.kubeconfig, 'get', 'serviceaccount', 'default').code === 0)
    const file = join(folder, 'objects.json')
    writeFileSync(file, web('LoadBalancer'))
    run(cluster, 'apply', '-f', file)
    const clientFile = join(folder, 'client.json')
    writeFileSync(clientFile, JSON.stringify(client))
    run(cluster, 'apply', '-f', clientFile)
    run(cluster, 'wait', 'deployment', 'web', '--for=condition=Available', '--timeout=60s')
    run(cluster, 'wait', 'pod', 'client', '--for=condition=Ready', '--timeout=60s')

    const clusterIP = serviceField(cluster, '.spec.clusterIP')
    await answersByBoth('the cluster IP from a pod', () => fromPod(cluster, clusterIP, '80'))
    await answersByBoth('the cluster IP from the machine', () => fromHost(clusterIP, '80'))
    const nodePort = serviceField(cluster, '.spec.ports[0].nodePort')
    await answersByBoth('the node port from a pod', () => fromPod(cluster, '192.0.2.7', nodePort))
    await answersByBoth('the node port from the machine', () => fromHost('192.0.2.7', nodePort))
    const balancer = serviceField(cluster, '.status.loadBalancer.ingress[0].ip')
    assert.match(balancer, /^127\./)
    await answersByBoth('the load balancer from the machine', () => fromHost(balancer, '80'))
    assert.match(run(cluster, 'get', 'events'), /EnsuredLoadBalancer/)

    const own = run(cluster, 'get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}')
    assert.equal(run(cluster, 'exec', 'client', '--', 'sh', '-c', 'echo $KUBERNETES_SERVICE_HOST').trim(), own)
    run(cluster, 'exec', 'client', '--', 'sh', '-c', `nc -w 3 ${own} 443 </dev/null`)
    const version = execFileSync('curl', ['-sk', '-m', '3', `https://${own}/version`], { encoding: 'utf8' })
    assert.match(version, /gitVersion/)
    const issuer = JSON.parse(run(cluster, 'get', '--raw', '/.well-known/openid-configuration'))
    assert.equal(issuer.jwks_uri, `https://${own}:443/openid/v1/jwks`, 'pods reach the keys of tokens')

    assert.equal(
      run(cluster, 'get', 'service', 'kube-dns', '-n', 'kube-system', '-o', 'jsonpath={.spec.clusterIP}'),
      dns,
    )
    assert.match(run(cluster, 'exec', 'client', '--', 'cat', '/etc/resolv.conf'), resolvConf)
    for (const name of ['web', 'web.default.svc.cluster.local'])
      await waitFor(`${name} in a pod`, () =>
        kubectl(cluster.kubeconfig, 'exec', 'client', '--', 'nslookup', name).stdout.includes(clusterIP),
      )
    const asked = execFileSync('dig', [`@${dns}`, '+short', '+tcp', '-x', clusterIP], { encoding: 'utf8' })
    assert.equal(asked.trim(), 'web.default.svc.cluster.local.')

    await testPolicy(cluster, folder, clusterIP)

    run(cluster, 'patch', 'service', 'web', '-p', '{"spec":{"type":"ClusterIP"}}')
    await waitFor('the address is given back', () => serviceField(cluster, '.metadata.finalizers') === '')
    run(cluster, 'delete', 'deployment/web', 'pod/client', 'service/web', '--timeout=50s')
    await waitFor('no pod is left', () => run(cluster, 'get', 'pods', '-o', 'name') === '')
    await checkFlannelDaemonSet(cluster, folder)
    await stop(cluster)
    const rules = execFileSync('sh', ['-c', 'iptables-save; nft list ruleset'], { encoding: 'utf8' })
    assert.doesNotMatch(rules, /KUBE-SERVICES|t8s_proxy|t8s_policy/)
  })
})

/** The proxy mode userspace and mapped ports on the real node of `t8s up`, with curl and dig. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { writeTestImages } from '../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, stop, t8s, temporaryFolder } from '../up/t8s-process.ts'
import { prepareMachine, startRealCluster } from './machine.ts'
import { answersByBoth, client, fromHost, fromPod, run, serviceField, web } from './service-cluster.ts'

const dig = (server: string, ...args: readonly string[]): string =>
  execFileSync('dig', [`@${server}`, '+short', '+tries=1', '+time=2', ...args], { encoding: 'utf8' }).trim()

function port(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = t8s(['port', ...args, '--kubeconfig', cluster.kubeconfig])
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

const says = (cluster: Running, text: string): Promise<unknown> =>
  waitFor(`the line ${text}`, () => cluster.output().includes(text))

async function createObjects(cluster: Running, folder: string): Promise<void> {
  await waitFor('an account', () => kubectl(cluster.kubeconfig, 'get', 'serviceaccount', 'default').code === 0)
  for (const [name, text] of Object.entries({ web: web('LoadBalancer'), client: JSON.stringify(client) })) {
    const file = join(folder, `${name}.json`)
    writeFileSync(file, text)
    run(cluster, 'apply', '-f', file)
  }
  run(cluster, 'wait', 'deployment', 'web', '--for=condition=Available', '--timeout=60s')
  run(cluster, 'wait', 'pod', 'client', '--for=condition=Ready', '--timeout=60s')
}

/** Cluster IP, node port, load balancer and DNS, without any rule of the kernel. */
async function checkServices(cluster: Running): Promise<void> {
  const clusterIP = serviceField(cluster, '.spec.clusterIP')
  await answersByBoth('the cluster IP from a pod', () => fromPod(cluster, clusterIP, '80'))
  await answersByBoth('the cluster IP from the machine', () => fromHost(clusterIP, '80'))
  const nodePort = serviceField(cluster, '.spec.ports[0].nodePort')
  await answersByBoth('the node port from a pod', () => fromPod(cluster, '192.0.2.7', nodePort))
  await answersByBoth('the node port on loopback', () => fromHost('127.0.0.1', nodePort))
  const balancer = serviceField(cluster, '.status.loadBalancer.ingress[0].ip')
  await answersByBoth('the load balancer', () => fromHost(balancer, '80'))
  assert.equal(dig('10.96.0.10', 'web.default.svc.cluster.local'), clusterIP)
  assert.equal(dig('10.96.0.10', '+tcp', 'web.default.svc.cluster.local'), clusterIP)
  const rules = execFileSync('sh', ['-c', 'iptables-save; nft list ruleset'], { encoding: 'utf8' })
  assert.doesNotMatch(rules, /KUBE-SERVICES|t8s_proxy/)
}

async function checkPorts(cluster: Running): Promise<void> {
  await answersByBoth('the mapped port', () => fromHost('127.0.0.1', '8080'))
  assert.equal(
    dig('127.0.0.1', '-p', '5353', 'web.default.svc.cluster.local'),
    serviceField(cluster, '.spec.clusterIP'),
  )
  assert.equal(port(cluster, 'add', '192.0.2.7:8081:web:80'), '192.0.2.7:8081:default/web:80: open, 2 endpoints')
  assert.match(fromHost('192.0.2.7', '8081'), /^web-/)
  assert.match(
    port(cluster, 'add', '8080:web:81'),
    /^127\.0\.0\.1:8080:default\/web:81: the Service default\/web has no TCP port 81: it has 80\/TCP$/,
  )
  const taken = createServer().listen(8082, '127.0.0.1')
  await once(taken, 'listening')
  assert.match(port(cluster, 'add', '8082:web:80'), /: closed, as another process has this port: stop it, or choose/)
  taken.close()
  await says(cluster, 'port 127.0.0.1:8082:default/web:80: open, 2 endpoints')
  assert.match(port(cluster, 'list'), /^192\.0\.2\.7:8081\/tcp +default\/web:80 +open, 2 endpoints$/m)
  assert.equal(port(cluster, 'remove', '192.0.2.7:8081'), '192.0.2.7:8081:default/web:80: removed')
  await says(cluster, 'port 192.0.2.7:8081:default/web:80: removed')
  assert.throws(() => fromHost('192.0.2.7', '8081'))
  const { code, stderr } = t8s(['port', 'remove', '9999', '--kubeconfig', cluster.kubeconfig])
  assert.equal(code, 1)
  assert.match(stderr, /port 9999 on 127\.0\.0\.1 has no mapping: t8s port list shows all/)
  run(cluster, 'scale', 'deployment', 'web', '--replicas=0')
  await says(cluster, 'port 127.0.0.1:8082:default/web:80: the Service default/web has no ready endpoint')
  run(cluster, 'scale', 'deployment', 'web', '--replicas=2')
  run(cluster, 'wait', 'deployment', 'web', '--for=condition=Available', '--timeout=60s')
  await answersByBoth('the mapped port again', () => fromHost('127.0.0.1', '8082'))
}

await inNamespaces(import.meta.filename, () => {
  prepareMachine()

  test('Services by userspace, and ports of the machine that lead to them', async (t) => {
    const folder = temporaryFolder(t)
    for (const file of writeTestImages(folder)) assert.equal(t8s(['image', 'import', file]).code, 0)
    const flags = ['--port=8080:web:80', '--port=5353:kube-system/kube-dns:53/udp']
    const cluster = await startRealCluster(t, join(folder, 'data'), ['--proxy-mode=userspace', ...flags])
    await says(cluster, 'port 127.0.0.1:8080:default/web:80: the Service default/web does not exist yet')
    await createObjects(cluster, folder)
    await checkServices(cluster)
    await checkPorts(cluster)
    await stop(cluster)
    assert.throws(() => fromHost('127.0.0.1', '8082'))
    const later = await startRealCluster(t, join(folder, 'data'), ['--proxy-mode=userspace'])
    await answersByBoth('the mapped port of an earlier start', () => fromHost('127.0.0.1', '8082'))
    run(later, 'delete', 'deployment/web', 'pod/client', 'service/web', '--timeout=50s')
    await waitFor('no pod is left', () => run(later, 'get', 'pods', '-o', 'name') === '')
    await stop(later)
    const routes = execFileSync('ip', ['route', 'show', 'table', 'local'], { encoding: 'utf8' })
    assert.doesNotMatch(routes, /proto 116/)
  })
})

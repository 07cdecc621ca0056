/** Behaviours of the conformance suite for types of Services (`test/e2e/network/service.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../../support/wait-for.ts'
import { machineAddress } from '../../machine.ts'
import type { Clients } from '../support/clients.ts'
import { inServedNamespace, type ServedCluster, type ServedRequests } from '../support/served-cluster.ts'
import { changeService, createService, readService, serverPort, startServers } from '../support/services.ts'

export function typeSuite(served: Promise<ServedCluster>, clients: Promise<Clients>): void {
  test('Services should be able to create a functioning NodePort service', async () => {
    const space = await inServedNamespace(served, 'node-port')
    await createService(space, 'nodeport-test', { type: 'NodePort', selector, ports: [port] })
    const servers = await startServers(space, 'app', 2)
    await answersAtAll(space, 'nodeport-test', servers, clients)
  })

  test('Services should be able to change the type from ExternalName to ClusterIP', async () => {
    const space = await inServedNamespace(served, 'to-cluster-ip')
    await createService(space, 'externalname-service', external)
    const change = { type: 'ClusterIP', externalName: undefined, selector, ports: [port] }
    await changeService(space, 'externalname-service', change)
    const servers = await startServers(space, 'app', 2)
    await answersAtAll(space, 'externalname-service', servers, clients)
  })

  test('Services should be able to change the type from ExternalName to NodePort', async () => {
    const space = await inServedNamespace(served, 'to-node-port')
    await createService(space, 'externalname-service', external)
    const change = { type: 'NodePort', externalName: undefined, selector, ports: [port] }
    await changeService(space, 'externalname-service', change)
    const servers = await startServers(space, 'app', 2)
    await answersAtAll(space, 'externalname-service', servers, clients)
  })

  test('Services should be able to change the type from ClusterIP to ExternalName', () =>
    becomesExternal(served, clients, 'ClusterIP'))
  test('Services should be able to change the type from NodePort to ExternalName', () =>
    becomesExternal(served, clients, 'NodePort'))
}

const selector = { app: 'app' }
const port = { name: 'http', port: 80, targetPort: serverPort, protocol: 'TCP' }
const external = { type: 'ExternalName', externalName: 'foo.example.com' }

/** Checks the Service by its name, its cluster IP and, if it has one, its node port, from a pod and from the node. */
async function answersAtAll(
  space: ServedRequests,
  name: string,
  servers: readonly string[],
  clients: Promise<Clients>,
): Promise<void> {
  const { spec } = await readService(space, name)
  const { pod, node } = await clients
  const nodePort = spec?.ports?.[0]?.nodePort
  assert.equal(nodePort !== undefined, spec?.type === 'NodePort')
  await pod.exactly([`${name}.${space.api.namespace}.svc.cluster.local`, 80], ...servers)
  for (const client of [pod, node]) {
    await client.exactly([spec?.clusterIP ?? '', 80], ...servers)
    if (nodePort !== undefined) await client.exactly([machineAddress, nodePort], ...servers)
  }
}

/** The Service becomes another name of a second one, and its own addresses serve no more. */
async function becomesExternal(
  served: Promise<ServedCluster>,
  clients: Promise<Clients>,
  type: 'ClusterIP' | 'NodePort',
): Promise<void> {
  const space = await inServedNamespace(served, `${type.toLowerCase()}-to-name`)
  const { namespace } = space.api
  const { pod } = await clients
  const name = `${type.toLowerCase()}-service`
  await createService(space, name, { type, selector: { app: 'former' }, ports: [port] })
  const target = await createService(space, 'externalsvc', { selector: { app: 'externalsvc' }, ports: [port] })
  const servers = await startServers(space, 'externalsvc', 2)
  const change = {
    type: 'ExternalName',
    externalName: `externalsvc.${namespace}.svc.cluster.local`,
    clusterIP: undefined,
    clusterIPs: undefined,
  }
  await changeService(space, name, change)
  const full = `${name}.${namespace}.svc.cluster.local`
  await waitFor('the name has the address of the other Service', async () =>
    (await pod.run('nslookup', full).catch(() => '')).includes(target),
  )
  await pod.exactly([full, 80], ...servers)
}

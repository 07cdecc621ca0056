/** Behaviours of the conformance suite for the affinity of sessions (`test/e2e/network/service.go`). */
import { test } from 'node:test'
import { machineAddress } from '../../machine.ts'
import type { Address, Clients } from '../support/clients.ts'
import { inServedNamespace, type ServedCluster } from '../support/served-cluster.ts'
import { changeService, createService, readService, serverPort, startServers } from '../support/services.ts'

/** The tests of a type share its servers and differ in their Service. */
export function affinitySuite(served: Promise<ServedCluster>, clients: Promise<Clients>): void {
  for (const { type, what } of [
    { type: 'ClusterIP', what: 'service with type clusterIP' },
    { type: 'NodePort', what: 'NodePort service' },
  ] as const) {
    const space = inServedNamespace(served, `affinity-${type.toLowerCase()}`)
    const servers = space.then((one) => startServers(one, 'affinity', 3))
    space.catch(() => {})
    servers.catch(() => {})

    /** Creates a Service with affinity, and resolves with the address by which a client reaches it. */
    const start = async (name: string): Promise<Address> => {
      const ports = [{ port: 80, targetPort: serverPort }]
      await createService(await space, name, {
        type,
        ports,
        selector: { app: 'affinity' },
        sessionAffinity: 'ClientIP',
      })
      await servers
      const { spec } = await readService(await space, name)
      return type === 'ClusterIP' ? [spec?.clusterIP ?? '', 80] : [machineAddress, spec?.ports?.[0]?.nodePort ?? 0]
    }

    test(`Services should have session affinity work for ${what}`, async () => {
      const address = await start('affinity')
      await (await clients).pod.same(address)
    })

    test(`Services should be able to switch session affinity for ${what}`, async () => {
      const address = await start('affinity-transition')
      const { pod } = await clients
      await changeService(await space, 'affinity-transition', { sessionAffinity: 'None' })
      await pod.differ(address)
      await changeService(await space, 'affinity-transition', { sessionAffinity: 'ClientIP' })
      await pod.same(address)
    })
  }
}

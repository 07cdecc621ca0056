/** Behaviours of the conformance suite for host ports (`test/e2e/network/hostport.go`). */
import { test } from 'node:test'
import { machineAddress } from '../../machine.ts'
import type { Clients } from '../support/clients.ts'
import { serverContainer } from '../support/probe-image.ts'
import { inServedNamespace, type ServedCluster } from '../support/served-cluster.ts'

const hostPort = 54_323

export function hostPortSuite(served: Promise<ServedCluster>, clients: Promise<Clients>): void {
  test(
    'HostPort validates that there is no conflict between pods ' +
      'with same hostPort but different hostIP and protocol',
    async () => {
      const space = await inServedNamespace(served, 'host-port')
      const { node } = await served
      const start = (name: string, hostIP: string, protocol: string) => {
        const ports = [{ containerPort: 8080, hostPort, hostIP, protocol }]
        const readinessProbe = { httpGet: { path: '/hostname', port: 8080 }, periodSeconds: 1 }
        const containers = [serverContainer(['http:8080', 'udp:8080'], { ports, readinessProbe })]
        return space.pod(name, { nodeName: node, containers })
      }
      await start('pod1', '127.0.0.1', 'TCP')
      await start('pod2', machineAddress, 'TCP')
      await start('pod3', machineAddress, 'UDP')
      const { node: client } = await clients
      await client.exactly(['127.0.0.1', hostPort, 'http', machineAddress], 'pod1')
      await client.exactly([machineAddress, hostPort], 'pod2')
      await client.exactly([machineAddress, hostPort, 'udp'], 'pod3')
    },
  )
}

/** Scales a Deployment from 0 to a thousand pods and back, with concurrent reads. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Deployment, deployments, pods } from '../../src/client/index.ts'
import { namespace } from '../server/rights.ts'
import { type Bench, countOf, cpuSeconds, until } from './bench.ts'
import type { Measured } from './index.ts'

const count = 1000
const restMs = 2000
const name = 'scaled'
const labels = { app: name }

export const deploymentOf = (name: string, replicas: number, inNamespace: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: inNamespace },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/app:1' }] } },
  },
})

export async function benchDeployment({ server, client, timingReads }: Bench): Promise<Measured[]> {
  await client.create(deployments, deploymentOf(name, 0, namespace))
  const scaled = async (replicas: number): Promise<number> => {
    const started = performance.now()
    await client.patch(deployments, namespace, name, { spec: { replicas } })
    await until(`${replicas} pods`, async () => (await countOf(client, pods, namespace)) === replicas)
    return (performance.now() - started) / 1000
  }
  // The latency without load, for comparison.
  const rest = await timingReads(() => delay(restMs))
  let created = 0
  let deleted = 0
  let cpu = 0
  const { p99 } = await timingReads(async () => {
    cpu = await cpuSeconds(server, async () => {
      created = await scaled(count)
      deleted = await scaled(0)
    })
  })
  return [
    { name: `a Deployment from 0 to ${count}: all pods created`, value: created, unit: 's', target: 3 },
    { name: `and from ${count} to 0: all pods deleted`, value: deleted, unit: 's', target: 5 },
    { name: 'concurrent GETs, p99', value: p99, unit: 'ms', target: 20 },
    { name: 'GETs without load, p99', value: rest.p99, unit: 'ms' },
    { name: 'CPU for both', value: cpu, unit: 's' },
  ]
}

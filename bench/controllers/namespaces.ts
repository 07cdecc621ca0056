/** Deletes a hundred namespaces at the same time, each with objects of several kinds. */
import {
  configMaps,
  deployments,
  namespaces,
  pods,
  secrets,
  serviceAccounts,
  services,
} from '../../src/client/index.ts'
import { type Bench, cpuSeconds, many, until } from './bench.ts'
import { deploymentOf } from './deployment.ts'
import type { Measured } from './index.ts'

const count = 100
/** Number of objects of each kind. A Deployment also creates a ReplicaSet and a pod, a Service its endpoints. */
const ofKind = 10
const kinds = 5

export async function benchNamespaces({ server, client, timingReads }: Bench): Promise<Measured[]> {
  const names = Array.from({ length: count }, (_, at) => `full-${at}`)
  await many(count, (at) =>
    client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: names[at] } }),
  )
  // Pods need the service account.
  await until('the accounts', async () => {
    const { items } = await client.list(serviceAccounts)
    return names.every((name) =>
      items.some(({ metadata }) => metadata.namespace === name && metadata.name === 'default'),
    )
  })
  await many(count * ofKind, async (at) => {
    const namespace = names[at % count]!
    const metadata = { name: `o-${Math.floor(at / count)}`, namespace }
    const core = { apiVersion: 'v1', metadata }
    await client.create(configMaps, { ...core, kind: 'ConfigMap', data: { key: 'x'.repeat(1000) } })
    await client.create(secrets, { ...core, kind: 'Secret', stringData: { key: 'x'.repeat(1000) } })
    await client.create(pods, {
      ...core,
      kind: 'Pod',
      spec: { containers: [{ name: 'main', image: 'example/app:1' }] },
    })
    await client.create(services, {
      ...core,
      kind: 'Service',
      spec: { selector: { app: 'scaled' }, ports: [{ port: 80 }] },
    })
    await client.create(deployments, deploymentOf(metadata.name, 1, namespace))
  })
  await until('the pods of the Deployments', async () =>
    (await client.list(deployments)).items.every(({ status }) => status?.replicas === 1),
  )
  let seconds = 0
  let cpu = 0
  const { p99 } = await timingReads(async () => {
    cpu = await cpuSeconds(server, async () => {
      const started = performance.now()
      await many(count, (at) => client.delete(namespaces, '', names[at]!))
      await until(
        'the namespaces to go',
        async () => !(await client.list(namespaces)).items.some(({ metadata }) => metadata.name?.startsWith('full-')),
      )
      seconds = (performance.now() - started) / 1000
    })
  })
  return [
    { name: `${count} namespaces with ${ofKind * kinds} objects each: deleted`, value: seconds, unit: 's', target: 20 },
    { name: 'concurrent GETs, p99', value: p99, unit: 'ms' },
    { name: 'CPU', value: cpu, unit: 's' },
  ]
}

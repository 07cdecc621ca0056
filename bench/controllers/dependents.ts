/** Deletes the owner of twenty thousand objects; measures the time until they are deleted too. */
import { configMaps, type DeleteOptions } from '../../src/client/index.ts'
import { namespace } from '../server/rights.ts'
import { type Bench, countOf, cpuSeconds, many, until } from './bench.ts'
import type { Measured } from './index.ts'

const count = 20_000

export async function benchDependents(
  { server, client, timingReads }: Bench,
  propagationPolicy: DeleteOptions['propagationPolicy'],
): Promise<Measured[]> {
  const base = await countOf(client, configMaps, namespace)
  const owner = await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'owner', namespace },
  })
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '', blockOwnerDeletion: true },
  ]
  await many(count, (at) =>
    client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `d-${at}`, namespace, ownerReferences },
      data: { key: 'value' },
    }),
  )
  let seconds = 0
  let cpu = 0
  const { p99 } = await timingReads(async () => {
    cpu = await cpuSeconds(server, async () => {
      const started = performance.now()
      await client.delete(configMaps, namespace, 'owner', { propagationPolicy })
      await until('the dependents to go', async () => (await countOf(client, configMaps, namespace)) === base)
      seconds = (performance.now() - started) / 1000
    })
  })
  return [
    { name: `${count} dependents of one owner: deleted (${propagationPolicy})`, value: seconds, unit: 's', target: 20 },
    { name: 'concurrent GETs, p99', value: p99, unit: 'ms' },
    { name: 'CPU', value: cpu, unit: 's' },
  ]
}

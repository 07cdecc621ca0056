/** Changes the mappings of ports in their ConfigMap, and reads how they are. */
import { type ConfigMap, configMaps } from '../../client/kinds.ts'
import { isAlreadyExists } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { mappingsObject, statusesIn } from './mapping-object.ts'
import { mappingKey, mappingText, type PortMapping, parseMapping } from './port-mapping.ts'

const { namespace, name } = mappingsObject

export const readMappings = (client: RestClient): Promise<ConfigMap | undefined> =>
  client.find(configMaps, namespace, name)

/** A port of the machine that has a mapping gets the new one. */
export async function addMappings(client: RestClient, mappings: readonly PortMapping[]): Promise<void> {
  if (mappings.length === 0) return
  const data = Object.fromEntries(mappings.map((mapping) => [mappingKey(mapping), mappingText(mapping)]))
  if (!(await readMappings(client)))
    try {
      await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data })
      return
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  await client.patch(configMaps, namespace, name, { data }, 'merge')
}

type HostPort = Parameters<typeof mappingKey>[0]

/** Resolves with the text of the mapping that the port of the machine had; undefined if it had none. */
export async function removeMapping(client: RestClient, port: HostPort): Promise<string | undefined> {
  const object = await readMappings(client)
  const wanted = mappingKey(port)
  const found = Object.entries(object?.data ?? {}).find(([key, text]) => {
    const mapping = parseMapping(text.trim())
    return mapping ? mappingKey(mapping) === wanted : key === wanted
  })
  if (!found) return undefined
  await client.patch(configMaps, namespace, name, { data: { [found[0]]: null } }, 'merge')
  return found[1]
}

/** Resolves with the reports about mappings, when all are there or the signal aborts. */
export async function reportsOf(
  client: RestClient,
  mappings: readonly PortMapping[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const texts = mappings.map(mappingText)
  const first = await readMappings(client)
  let statuses = statusesIn(first)
  const isComplete = (): boolean => texts.every((text) => statuses.has(text))
  if (isComplete()) return statuses
  const { resourceVersion = '' } = first?.metadata ?? {}
  const selection = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion, signal }
  try {
    for await (const { object } of client.watch(configMaps, selection)) {
      statuses = statusesIn(object)
      if (isComplete()) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return statuses
}

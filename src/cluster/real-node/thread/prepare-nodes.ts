/** Prepares the nodes of a cluster for a real one. */
import { configMaps, nodes } from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../../client/rest/api-errors.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { fleetConfigMapOf, fleetSizeKey, nodeLabel, upOwner } from '../../../simulation/names.ts'
import { ObstacleError } from '../checks/obstacle-error.ts'

export interface NodePreparation {
  /** True if several simulated nodes take precedence. */
  readonly isReplaceable: boolean
  /** An administrator's. */
  readonly client: RestClient
  readonly log: (line: string) => void
}

/**
 * Deletes a simulated node of this name, such as `node-1` of an earlier start. Rejects with an ObstacleError if a
 * replaceable node would take the place of several simulated ones, which somebody has asked for.
 */
export async function prepareNodes(name: string, { isReplaceable, client, log }: NodePreparation): Promise<void> {
  const [known] = await Promise.all([client.find(nodes, '', name), isReplaceable ? checkFleet(client) : undefined])
  if (known?.metadata.labels?.[nodeLabel] === undefined) return
  log(`the simulated node ${name} is deleted: the real node has this name`)
  await client.delete(nodes, '', name, { uid: known.metadata.uid }).catch(ignoreNotFound)
}

async function checkFleet(client: RestClient): Promise<void> {
  const { namespace, name } = fleetConfigMapOf(upOwner)
  const fleet = await client.find(configMaps, namespace, name)
  const size = Number(fleet?.data?.[fleetSizeKey] ?? 0)
  if (size <= 1) return
  throw new ObstacleError({ reason: `the cluster has ${size} simulated nodes`, remedy: '--node-type=real' })
}

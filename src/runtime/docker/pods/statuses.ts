/** Statuses of containers, which wait for the logs of those that have ended. */
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import { isMissing } from '../../../lib/docker-engine/index.ts'
import type { DockerParts } from '../docker-parts.ts'
import type { ImageInspection } from '../engine-types.ts'
import { containerStatus } from './messages.ts'
import type { InspectedContainer } from './pods.ts'

type Status = MessageInitShape<typeof ContainerStatusSchema>

export async function statusOf(parts: DockerParts, container: InspectedContainer): Promise<Status> {
  const { id, imageId, inspection } = container
  if (!inspection.State.Running) await parts.logs.drained(id)
  return containerStatus(container, await imageReference(parts, imageId))
}

/** Of all containers of a sandbox that still exist. */
export async function statusesIn(parts: DockerParts, sandboxId: string): Promise<Status[]> {
  const { pods } = parts
  const containers = await pods.containers(sandboxId)
  const inspected = await Promise.all(containers.map(({ id }) => pods.findContainer(id)))
  return Promise.all(inspected.flatMap((container) => (container ? [statusOf(parts, container)] : [])))
}

/** A name with a digest; the ID for an image that was imported or removed. */
async function imageReference({ engine }: DockerParts, id: string): Promise<string> {
  try {
    const { RepoDigests } = await engine.json<ImageInspection>({ path: `/images/${id}/json` })
    return RepoDigests?.[0] ?? id
  } catch (error) {
    if (isMissing(error)) return id
    throw error
  }
}

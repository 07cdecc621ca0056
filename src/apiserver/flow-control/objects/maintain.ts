/**
 * Maintains the FlowSchemas and PriorityLevelConfigurations that every cluster has: creates missing ones, and restores
 * those that the server owns.
 */
import {
  autoUpdateAnnotation,
  type FlowSchema,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  type PriorityLevelConfiguration,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '../../../api/flowcontrol/bootstrap-objects.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { createObject } from '../../registry/write/create-object.ts'
import { deleteObject } from '../../registry/write/delete-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { isTrue, revision } from './revise.ts'

const manager = 'api-priority-and-fairness-config-producer-v1'

export interface MaintainedKind<T extends KubeObject> {
  readonly resource: ServedResource
  readonly followed: FollowedObjects<T>
}

export interface MaintainOptions {
  readonly schemas: MaintainedKind<FlowSchema>
  readonly levels: MaintainedKind<PriorityLevelConfiguration>
  readonly writer: Writer
}

/** Resolves when all objects are up to date. Writes in parallel, so that few commits are needed. */
export async function maintainObjects({ schemas, levels, writer }: MaintainOptions): Promise<void> {
  const context = { ...writer, manager }
  await Promise.all([
    ...maintain(context, levels, mandatoryPriorityLevels, true),
    ...maintain(context, levels, suggestedPriorityLevels, false),
    ...maintain(context, schemas, mandatoryFlowSchemas, true),
    ...maintain(context, schemas, suggestedFlowSchemas, false),
    ...removeOld(context, schemas, [...mandatoryFlowSchemas, ...suggestedFlowSchemas]),
    ...removeOld(context, levels, [...mandatoryPriorityLevels, ...suggestedPriorityLevels]),
  ])
}

/** True if another writer was faster; the next round checks again. */
const isOutrun = (error: unknown): boolean => error instanceof StatusError && (error.code === 409 || error.code === 404)

const maintain = <T extends FlowSchema | PriorityLevelConfiguration>(
  context: Writer,
  kind: MaintainedKind<T>,
  objects: readonly T[],
  mandatory: boolean,
) => objects.map((wanted) => maintainOne(context, kind, wanted, mandatory))

async function maintainOne<T extends FlowSchema | PriorityLevelConfiguration>(
  context: Writer,
  { resource, followed }: MaintainedKind<T>,
  wanted: T,
  mandatory: boolean,
): Promise<void> {
  const name = wanted.metadata.name!
  const place = { ...context, resource, namespace: '', name, subresource: '' }
  const live = followed.get('', name)
  try {
    if (!live) {
      const object = structuredClone(wanted)
      resource.applyDefaults(object)
      await createObject(place, object)
      return
    }
    if (!revision(live, wanted, mandatory)) return
    await updateObject(place, {
      startsFromLive: true,
      change: (object) => ({ object: revised(object as T, wanted, mandatory) }),
    })
  } catch (error) {
    if (!isOutrun(error)) throw error
  }
}

function revised<T extends FlowSchema | PriorityLevelConfiguration>(object: T, wanted: T, mandatory: boolean): T {
  const what = revision(object, wanted, mandatory)
  if (!what) return object
  const { metadata } = object
  return {
    ...object,
    ...(what.spec && { spec: structuredClone(what.spec) }),
    metadata: { ...metadata, annotations: { ...metadata.annotations, [autoUpdateAnnotation]: what.annotation } },
  }
}

/** Deletes objects that earlier versions of the server created, if their annotation says that the server owns them. */
function removeOld<T extends KubeObject>(
  context: Writer,
  { resource, followed }: MaintainedKind<T>,
  shipped: readonly T[],
): Promise<void>[] {
  const names = new Set(shipped.map(({ metadata }) => metadata.name))
  const old = [...followed.all()].filter(
    ({ metadata }) => !names.has(metadata.name) && isTrue(metadata.annotations?.[autoUpdateAnnotation]),
  )
  return old.map(async ({ metadata }) => {
    try {
      await deleteObject(
        { ...context, resource, namespace: '', name: metadata.name!, subresource: '' },
        { dryRun: false },
      )
    } catch (error) {
      if (!isOutrun(error)) throw error
    }
  })
}

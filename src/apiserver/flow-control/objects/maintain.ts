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
import type { Informer } from '../../registry/informer.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { createObject } from '../../registry/write/create-object.ts'
import { deleteObject } from '../../registry/write/delete-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { isTrue, revision } from './revise.ts'

const manager = 'api-priority-and-fairness-config-producer-v1'

export interface MaintainedKind<T extends KubeObject> {
  readonly resource: ServedResource
  readonly informer: Informer<T>
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
) => objects.map((definition) => maintainOne(context, kind, definition, mandatory))

async function maintainOne<T extends FlowSchema | PriorityLevelConfiguration>(
  context: Writer,
  { resource, informer }: MaintainedKind<T>,
  definition: T,
  mandatory: boolean,
): Promise<void> {
  const name = definition.metadata.name!
  const target = { ...context, resource, namespace: '', name, subresource: '' }
  const live = informer.get('', name)
  try {
    if (!live) {
      const object = structuredClone(definition)
      resource.applyDefaults(object)
      await createObject(target, object)
      return
    }
    if (!revision(live, definition, mandatory)) return
    await updateObject(target, {
      startsFromLive: true,
      change: (object) => ({ object: revised(object as T, definition, mandatory) }),
    })
  } catch (error) {
    if (!isOutrun(error)) throw error
  }
}

function revised<T extends FlowSchema | PriorityLevelConfiguration>(object: T, definition: T, mandatory: boolean): T {
  const changes = revision(object, definition, mandatory)
  if (!changes) return object
  const { metadata } = object
  return {
    ...object,
    ...(changes.spec && { spec: structuredClone(changes.spec) }),
    metadata: { ...metadata, annotations: { ...metadata.annotations, [autoUpdateAnnotation]: changes.annotation } },
  }
}

/** Deletes objects that earlier versions of the server created, if their annotation says that the server owns them. */
function removeOld<T extends KubeObject>(
  context: Writer,
  { resource, informer }: MaintainedKind<T>,
  current: readonly T[],
): Promise<void>[] {
  const names = new Set(current.map(({ metadata }) => metadata.name))
  const old = [...informer.all()].filter(
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

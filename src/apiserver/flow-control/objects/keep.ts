/**
 * Keeps the FlowSchemas and PriorityLevelConfigurations that every cluster has: creates those that are missing, and
 * puts right those that are the server's to say.
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

export interface KeptKind<T extends KubeObject> {
  readonly resource: ServedResource
  readonly followed: FollowedObjects<T>
}

export interface KeepOptions {
  readonly schemas: KeptKind<FlowSchema>
  readonly levels: KeptKind<PriorityLevelConfiguration>
  readonly writer: Writer
}

/** Resolves when all are as they should be. What is written is written at once, so that it shares few commits. */
export async function keepObjects({ schemas, levels, writer }: KeepOptions): Promise<void> {
  const context = { ...writer, manager }
  await Promise.all([
    ...keep(context, levels, mandatoryPriorityLevels, true),
    ...keep(context, levels, suggestedPriorityLevels, false),
    ...keep(context, schemas, mandatoryFlowSchemas, true),
    ...keep(context, schemas, suggestedFlowSchemas, false),
    ...removeOld(context, schemas, [...mandatoryFlowSchemas, ...suggestedFlowSchemas]),
    ...removeOld(context, levels, [...mandatoryPriorityLevels, ...suggestedPriorityLevels]),
  ])
}

/** Another server was faster, or somebody changes it just now: the next time will tell. */
const isOutrun = (error: unknown): boolean => error instanceof StatusError && (error.code === 409 || error.code === 404)

const keep = <T extends FlowSchema | PriorityLevelConfiguration>(
  context: Writer,
  kind: KeptKind<T>,
  objects: readonly T[],
  mandatory: boolean,
) => objects.map((wanted) => keepOne(context, kind, wanted, mandatory))

async function keepOne<T extends FlowSchema | PriorityLevelConfiguration>(
  context: Writer,
  { resource, followed }: KeptKind<T>,
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

/** What the server shipped once and does not any more goes, if its annotation says that it is the server's. */
function removeOld<T extends KubeObject>(
  context: Writer,
  { resource, followed }: KeptKind<T>,
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

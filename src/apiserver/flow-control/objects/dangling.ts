/** The condition `Dangling` in the status of each FlowSchema: true if its priority level is missing. */
import type { V1FlowSchemaCondition } from '@kubernetes/client-node'
import type { FlowSchema } from '../../../api/flowcontrol/bootstrap-objects.ts'
import type { Wire } from '../../../machinery/object.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { applyPatch } from '../../apply/index.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import { resetFields, type Writer } from '../../registry/write/write-context.ts'
import { decodeApplied } from '../../request/bodies/read-applied.ts'

const manager = 'api-priority-and-fairness-config-consumer-v1'

type Condition = Wire<V1FlowSchemaCondition>

/** The condition that a schema should have; undefined if it has it already. */
export function danglingCondition({ spec, status }: FlowSchema, found: boolean, now: string): Condition | undefined {
  const name = JSON.stringify(spec?.priorityLevelConfiguration.name ?? '')
  const reference = `This FlowSchema references the PriorityLevelConfiguration object named ${name}`
  const condition = found
    ? { status: 'False', reason: 'Found', message: `${reference} and it exists` }
    : { status: 'True', reason: 'NotFound', message: `${reference} but there is no such object` }
  const existing = status?.conditions?.find(({ type }) => type === 'Dangling')
  if (
    existing?.status === condition.status &&
    existing.reason === condition.reason &&
    existing.message === condition.message
  )
    return undefined
  return { type: 'Dangling', lastTransitionTime: now, ...condition }
}

/** Applies the condition; does nothing if the schema has been deleted in the meantime. */
export async function writeCondition(
  writer: Writer,
  resource: ServedResource,
  name: string,
  condition: Condition,
): Promise<void> {
  const context = { ...writer, manager, resource, namespace: '', name, subresource: 'status' }
  const { kind } = resource.definition
  const applied = { kind, apiVersion: resource.groupVersion, metadata: { name }, status: { conditions: [condition] } }
  try {
    await updateObject(context, {
      change: (live) => {
        const { object } = applyPatch({
          live,
          applied,
          kind,
          type: resource.type,
          apiVersion: resource.groupVersion,
          manager,
          force: true,
          subresource: 'status',
          now: context.now(),
          resetFields: resetFields(resource, 'status'),
        })
        return { object: decodeApplied(resource, object), tracked: true }
      },
    })
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error
  }
}

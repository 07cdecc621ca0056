/** The options of DELETE, from the body if there is one, otherwise from the query (`meta/v1` DeleteOptions). */

import { schemaType } from '../../api/schema/index.ts'
import { DecodeError, decode } from '../../machinery/decode/index.ts'
import { badRequest, invalid } from '../../machinery/status-error.ts'
import { type FieldError, invalidValue, notSupported } from '../../machinery/validation/field-error.ts'
import type { Request } from '../http/exchange.ts'
import { type Body, readBody } from './body.ts'
import { flagParameter, int64Parameter } from './parameters.ts'
import { dryRunErrors } from './write-options.ts'

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan'

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly propagationPolicy?: PropagationPolicy
  readonly orphanDependents?: boolean
  readonly dryRun: boolean
}

/** DeleteOptions as clients send them. */
interface DeleteOptionsModel {
  gracePeriodSeconds?: number
  preconditions?: { uid?: string; resourceVersion?: string }
  propagationPolicy?: string
  orphanDependents?: boolean
  dryRun?: string[]
}

/** Reads and validates the options. A body overrides the query. Throws 400, 415 and 422. */
export async function deleteOptions(request: Request): Promise<DeleteOptions> {
  const body = await readBody(request)
  if (body.empty) return deleteOptionsOf(fromQuery(request.query))
  const options = fromBody(body)
  request.audit?.recordBody({ kind: 'DeleteOptions', apiVersion: 'v1', ...options })
  return deleteOptionsOf(options)
}

/** Validates options that are embedded in another object (Eviction). Throws 422. */
export function deleteOptionsOf(wire: DeleteOptionsModel): DeleteOptions {
  const errors = deleteErrors(wire)
  if (errors.length) throw invalid({ group: 'meta.k8s.io', name: 'DeleteOptions' }, '', errors)
  return {
    ...wire,
    propagationPolicy: wire.propagationPolicy as PropagationPolicy | undefined,
    dryRun: (wire.dryRun?.length ?? 0) > 0,
  }
}

function fromBody({ value, fields }: Body): DeleteOptionsModel {
  const type = schemaType('V1DeleteOptions')
  const given = value('DeleteOptions')
  try {
    return decode(type, fields ? fields(type) : given).object as DeleteOptionsModel
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message)
    throw error
  }
}

function fromQuery(query: URLSearchParams): DeleteOptionsModel {
  const propagationPolicy = query.get('propagationPolicy')
  const dryRun = query.getAll('dryRun')
  return {
    gracePeriodSeconds: int64Parameter(query, 'gracePeriodSeconds'),
    orphanDependents: flagParameter(query, 'orphanDependents'),
    ...(propagationPolicy !== null && { propagationPolicy }),
    ...(dryRun.length && { dryRun }),
  }
}

function deleteErrors({ propagationPolicy, orphanDependents, dryRun = [] }: DeleteOptionsModel): FieldError[] {
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(
      invalidValue(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']))
  }
  return [...errors, ...dryRunErrors(dryRun)]
}

/** Validation of events of both API groups. Errors have the field names of core, except that of the reporter. */
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'

/** The fields of events of both groups, with core's names. */
export interface EventFacts {
  readonly namespace: string | undefined
  readonly eventTime: string | null | undefined
  /** The namespace of the regarded object. */
  readonly regardingNamespace: string | undefined
  readonly reporter: string | undefined
  readonly reporterField: 'reportingController' | 'reportingComponent'
  readonly reportingInstance: string | null | undefined
  readonly action: string | null | undefined
  readonly reason: string | null | undefined
  readonly message: string | null | undefined
}

const wrongNamespace = 'does not match event.namespace'

/** Validates the length, in bytes. */
const maxLength = (field: string, value: string | null | undefined, max: number): readonly FieldError[] =>
  value && Buffer.byteLength(value) > max ? [invalidValue(field, '', `can have at most ${max} characters`)] : valid
const requiredField = (field: string, value: string | null | undefined): readonly FieldError[] =>
  value ? maxLength(field, value, 128) : [required(field)]

/**
 * Events with an eventTime need a reporter, an action and a reason; others, of old clients, must only be in the
 * namespace of the object that they regard.
 */
export function eventFactRules(event: EventFacts): readonly FieldError[] {
  const { namespace, regardingNamespace = '', reporter = '', reporterField } = event
  const at = 'involvedObject.namespace'
  // Events about cluster-scoped objects are in `default`.
  if (!event.eventTime)
    return (regardingNamespace === '' ? namespace === 'default' : regardingNamespace === namespace)
      ? valid
      : [invalidValue(at, regardingNamespace, wrongNamespace)]
  return all(
    regardingNamespace === '' && namespace !== 'default' && namespace !== 'kube-system'
      ? [invalidValue(at, regardingNamespace, wrongNamespace)]
      : valid,
    reporter ? valid : [required(reporterField)],
    follows(reporter, reporterField, qualifiedName),
    requiredField('reportingInstance', event.reportingInstance),
    requiredField('action', event.action),
    requiredField('reason', event.reason),
    maxLength('message', event.message, 1024),
  )
}

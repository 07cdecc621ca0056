/**
 * What holds for events in either form: errors name core's fields, but for the reporter's, which is called differently.
 */
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../machinery/validation/field-rules.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'

/** The fields that both forms have, by core's names. */
export interface EventFacts {
  readonly namespace: string | undefined
  readonly eventTime: string | null | undefined
  /** The namespace of what the event is about. */
  readonly about: string | undefined
  readonly reporter: string | undefined
  readonly reporterField: 'reportingController' | 'reportingComponent'
  readonly reportingInstance: string | null | undefined
  readonly action: string | null | undefined
  readonly reason: string | null | undefined
  readonly message: string | null | undefined
}

const elsewhere = 'does not match event.namespace'

/** Counted in bytes. */
const longest = (field: string, value: string | null | undefined, max: number): readonly FieldError[] =>
  value && Buffer.byteLength(value) > max ? [invalidValue(field, '', `can have at most ${max} characters`)] : valid
const text = (field: string, value: string | null | undefined): readonly FieldError[] =>
  value ? longest(field, value, 128) : [required(field)]

/**
 * Events with an exact time have to say who tells what; others, of old clients, only need to lie beside what they are
 * about.
 */
export function eventFactRules(event: EventFacts): readonly FieldError[] {
  const { namespace, about = '', reporter = '', reporterField } = event
  const at = 'involvedObject.namespace'
  // What lives in no namespace is told about in `default`.
  if (!event.eventTime)
    return (about === '' ? namespace === 'default' : about === namespace) ? valid : [invalidValue(at, about, elsewhere)]
  return all(
    about === '' && namespace !== 'default' && namespace !== 'kube-system'
      ? [invalidValue(at, about, elsewhere)]
      : valid,
    reporter ? valid : [required(reporterField)],
    follows(reporter, reporterField, qualifiedName),
    text('reportingInstance', event.reportingInstance),
    text('action', event.action),
    text('reason', event.reason),
    longest('message', event.message, 1024),
  )
}

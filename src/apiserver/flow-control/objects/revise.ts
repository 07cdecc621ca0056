/**
 * Compares one of the server's own objects with its definition. Mandatory ones are always restored; suggested ones only
 * while their spec is unchanged by users, or their annotation says so.
 */
import {
  autoUpdateAnnotation,
  type FlowSchema,
  type PriorityLevelConfiguration,
} from '../../../api/flowcontrol/bootstrap-objects.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'

/** The parts of an object to restore. */
export interface Revision<Spec> {
  readonly annotation: 'true' | 'false'
  /** Absent if the spec stays unchanged. */
  readonly spec?: Spec
}

type OwnObject = FlowSchema | PriorityLevelConfiguration

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])

/** As Go parses a boolean. */
export const isTrue = (text: string | undefined): boolean => text !== undefined && truths.get(text) === true

/** Undefined for an object that needs no change. */
export function revision<T extends OwnObject>(
  live: T,
  definition: T,
  mandatory: boolean,
): Revision<T['spec']> | undefined {
  const text = live.metadata.annotations?.[autoUpdateAnnotation]
  const annotated = text === undefined ? undefined : truths.get(text)
  const isAutoUpdated = mandatory || (annotated ?? live.metadata.generation === 1)
  const isChanged = isAutoUpdated && !matches(live, definition)
  if (!isChanged && annotated === isAutoUpdated) return undefined
  return { annotation: isAutoUpdated ? 'true' : 'false', ...(isChanged && { spec: definition.spec }) }
}

/** True if the object matches its definition. Administrators set the shares of the exempt level. */
function matches(live: OwnObject, definition: OwnObject): boolean {
  if (live.kind === 'PriorityLevelConfiguration' && live.metadata.name === 'exempt')
    return live.spec && 'type' in live.spec ? live.spec.type === 'Exempt' : false
  return semanticallyEqual(live.spec, definition.spec)
}

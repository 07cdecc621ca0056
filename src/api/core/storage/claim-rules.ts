/** Validation of claim specs, of PersistentVolumeClaims and of templates in pods and StatefulSets. */
import type { V1PersistentVolumeClaimSpec } from '@kubernetes/client-node'
import type { Wire } from '../../../machinery/object.ts'
import { validateLabelSelector } from '../../../machinery/selectors/label-selector.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import { all, oneOf, optionalText, requiredText, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { signOf } from '../../../machinery/values/quantity.ts'

export type ClaimSpec = Wire<V1PersistentVolumeClaimSpec>

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const volumeModes = ['Block', 'Filesystem']

/** Validates access modes of volumes and claims: at least one. */
export function accessModes(given: readonly string[] | undefined, path: string): readonly FieldError[] {
  if (!given?.length) return [required(path)]
  return all(
    given.flatMap((mode) => (modes.includes(mode) ? valid : [notSupported(path, mode, modes)])),
    given.includes('ReadWriteOncePod') && given.some((mode) => mode !== 'ReadWriteOncePod' && modes.includes(mode))
      ? [forbiddenField(path, 'may not use ReadWriteOncePod with other access modes')]
      : valid,
  )
}

/** Validates the spec of a PersistentVolumeClaim. */
export function claimSpec(spec: ClaimSpec, path: string): readonly FieldError[] {
  const storage = spec.resources?.requests?.storage
  const sources = (['dataSource', 'dataSourceRef'] as const).flatMap((field) => {
    const source = spec[field]
    if (!source) return valid
    return all(
      requiredText(source.name, `${path}.${field}.name`),
      requiredText(source.kind, `${path}.${field}.kind`),
      !source.apiGroup && source.kind !== 'PersistentVolumeClaim'
        ? [
            invalidValue(
              `${path}.${field}`,
              source.kind ?? '',
              "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
            ),
          ]
        : valid,
      optionalText(source.apiGroup, `${path}.${field}.apiGroup`, dnsSubdomain),
    )
  })
  return all(
    spec.accessModes?.length ? valid : [required(`${path}.accessModes`, 'at least 1 access mode is required')],
    validateLabelSelector(spec.selector, `${path}.selector`),
    spec.accessModes?.length ? accessModes(spec.accessModes, `${path}.accessModes`) : valid,
    storage === undefined
      ? [required(`${path}.resources[storage]`)]
      : signOf(storage) <= 0
        ? [invalidValue(`${path}.resources[storage]`, storage, 'must be greater than zero')]
        : valid,
    optionalText(spec.storageClassName, `${path}.storageClassName`, dnsSubdomain),
    oneOf(spec.volumeMode, `${path}.volumeMode`, volumeModes),
    sources,
    spec.dataSource &&
      spec.dataSourceRef &&
      !spec.dataSourceRef.namespace &&
      !isSameSource(spec.dataSource, spec.dataSourceRef)
      ? [invalidValue(path, {}, 'must match dataSourceRef')]
      : valid,
    optionalText(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`, dnsSubdomain),
  )
}

type Source = NonNullable<ClaimSpec['dataSource']>

const isSameSource = (a: Source, b: Source): boolean =>
  (a.apiGroup ?? '') === (b.apiGroup ?? '') && a.kind === b.kind && a.name === b.name

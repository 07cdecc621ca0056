/** ServiceCIDRs: ranges of cluster IPs. */
import type { V1ServiceCIDR } from '@kubernetes/client-node'
import { addressAt, parseCidr } from '../../lib/cidr.ts'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { each, follows } from '../../machinery/validation/field-rules.ts'
import { cidr } from '../../machinery/validation/names.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, column, name, resource } from '../resource.ts'

type ServiceCIDR = Model<V1ServiceCIDR>

export const serviceCidrs = resource<ServiceCIDR>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  scope: 'Cluster',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  validate: { object: cidrRules, update: validateRangesUnchanged },
  columns: [
    name,
    column('CIDRs', ({ spec }) => (spec?.cidrs ?? []).join(','), {
      description: 'The ranges of cluster IPs.',
    }),
    age,
  ],
})

function cidrRules({ spec }: ServiceCIDR): readonly FieldError[] {
  const cidrs = spec?.cidrs ?? []
  if (cidrs.length === 0) return [required('spec.cidrs', 'at least one CIDR required')]
  if (cidrs.length > 2) return [invalidValue('spec.cidrs', { CIDRs: cidrs }, 'may only hold up to 2 values')]
  const errors = [...each(cidrs, 'spec.cidrs', (text, path) => follows(text, path, canonicalCidr))]
  const [first, second] = cidrs.map(parseCidr)
  if (first && first.family === second?.family)
    errors.push(
      invalidValue(
        'spec.cidrs',
        cidrs,
        'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ),
    )
  return errors
}

/** Requires a CIDR in canonical form. */
function canonicalCidr(text: string): string[] {
  const errors = cidr(text)
  const range = parseCidr(text)
  if (errors.length > 0 || !range) return errors
  const canonical = `${addressAt(range, 0)}/${range.prefix}`
  return text === canonical ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

/** Existing ranges are immutable; a range of the other family may be added. */
function validateRangesUnchanged({ spec }: ServiceCIDR, { spec: old }: ServiceCIDR): readonly FieldError[] {
  const [now, before] = [spec?.cidrs?.length ?? 0, old?.cidrs?.length ?? 0]
  if (now !== before && !(before === 1 && now === 2))
    return [invalidValue('spec.cidrs', spec?.cidrs ?? null, 'field is immutable')]
  return (old?.cidrs ?? []).flatMap((text, at) =>
    spec?.cidrs?.[at] === text
      ? []
      : [invalidValue(`spec.cidrs[${at}]`, spec?.cidrs?.[at] ?? null, 'field is immutable')],
  )
}

export const betaServiceCidrs = additionalVersion(serviceCidrs, 'v1beta1', 'V1beta1ServiceCIDR')

/** IPAddresses: the owner of each cluster IP. The name is the address. */

import { isIPv4 } from 'node:net'
import type { V1IPAddress } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { required } from '../../machinery/validation/field-error.ts'
import { all, immutable, optionalText, requiredRule } from '../../machinery/validation/field-rules.ts'
import { pointer, text } from '../../machinery/validation/internal-type.ts'
import { dnsSubdomain, ipAddress, pathSegment } from '../../machinery/validation/names.ts'
import { additionalVersion } from '../additional-version.ts'
import { age, column, name, resource } from '../resource.ts'

type IPAddress = Model<V1IPAddress>

/** Requires the canonical form, so that no two objects have the same address. */
const canonicalAddress = (text: string): string[] => {
  const errors = ipAddress(text)
  if (errors.length > 0 || isIPv4(text)) return errors
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
  return text === canonical ? errors : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

const shownParent = pointer({ Group: text, Resource: text, Namespace: text, Name: text })

export const ipAddresses = resource<IPAddress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  shortNames: ['ip'],
  scope: 'Cluster',
  nameRule: canonicalAddress,
  selectableFields: { 'spec.parentRef.group': ({ spec }) => spec?.parentRef?.group },
  validate: {
    object: ({ spec }) => {
      const parent = spec?.parentRef
      if (!parent) return [required('spec.parentRef')]
      const path = 'spec.parentRef'
      return all(
        optionalText(parent.group, `${path}.group`, dnsSubdomain),
        requiredRule(parent.resource, `${path}.resource`, pathSegment),
        requiredRule(parent.name, `${path}.name`, pathSegment),
        optionalText(parent.namespace, `${path}.namespace`, pathSegment),
      )
    },
    update: ({ spec }, { spec: old }) => immutable(spec?.parentRef, 'spec.parentRef', old?.parentRef, shownParent),
  },
  columns: [name, column('ParentRef', parentText, { description: 'The owner of the address.' }), age],
})

function parentText({ spec }: IPAddress): string {
  const { group, resource: plural, namespace, name: parentName } = spec?.parentRef ?? { resource: '', name: '' }
  const parent = `${group ? `${plural}.${group}` : plural}/${namespace ? `${namespace}/` : ''}${parentName}`
  return spec?.parentRef ? parent : '<none>'
}

export const betaIPAddresses = additionalVersion(ipAddresses, 'v1beta1', 'V1beta1IPAddress')

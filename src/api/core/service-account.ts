/** ServiceAccounts: identities of processes in pods. */
import type { V1ServiceAccount } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { age, name, resource } from '../resource.ts'

type ServiceAccount = Model<V1ServiceAccount>

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

const isEnforcing = ({ metadata }: ServiceAccount): boolean => metadata.annotations?.[enforceAnnotation] !== undefined

/** Reduces references to secrets to the name. */
function cleanReferences(account: ServiceAccount): void {
  account.secrets = account.secrets?.map(({ name }) => ({ name }))
}

export const serviceAccounts = resource<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  scope: 'Namespaced',
  subresources: {
    special: [
      { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
    ],
  },
  prepare: { create: cleanReferences, update: cleanReferences },
  warnings: (account, old) =>
    isEnforcing(account) && !(old && isEnforcing(old))
      ? [
          `metadata.annotations[${enforceAnnotation}]: deprecated in v1.32+; prefer separate namespaces to ` +
            'isolate access to mounted secrets',
        ]
      : [],
  columns: [name, age],
  deletion: { returnsObject: true },
})

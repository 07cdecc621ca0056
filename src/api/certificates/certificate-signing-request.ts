/** CertificateSigningRequests: requests for certificates, which are approved and then issued by a signer. */
import type { V1CertificateSigningRequest } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { humanDuration } from '../../machinery/values/duration.ts'
import { age, column, name, resource } from '../resource.ts'
import { approvalRules, requestRules, requestStatusRules } from './rules/request-rules.ts'

type Request = Model<V1CertificateSigningRequest>

export const certificateSigningRequests = resource<Request>({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  shortNames: ['csr'],
  scope: 'Cluster',
  subresources: {
    status: true,
    special: [
      {
        name: 'approval',
        kind: 'CertificateSigningRequest',
        verbs: ['get', 'patch', 'update'],
        writes: { prepare: resetAllButConditions, validate: approvalRules },
      },
    ],
  },
  // The spec is immutable, so upstream tracks no owners of its fields.
  resetFields: {
    '': ['spec', 'status'],
    status: ['spec', 'status.conditions'],
    approval: ['spec', 'status.certificate'],
  },
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName },
  prepare: {
    // Signers trust these fields, so only the server sets them.
    create: (request, { name: username, uid, groups, extra }) => {
      request.spec = {
        ...request.spec,
        username,
        uid,
        groups: [...groups],
        extra: extra && Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])),
      }
      request.status = {}
    },
    // The spec is immutable.
    update: (request, old) => {
      request.spec = old.spec
    },
    status: (request, old) => {
      if (request.status?.conditions) request.status = { ...request.status, conditions: withTimes(request, old) }
    },
  },
  validate: { object: requestRules, update: approvalRules, status: requestStatusRules },
  columns: [
    name,
    age,
    column('SignerName', ({ spec }) => spec?.signerName || '<none>', { description: 'The requested signer.' }),
    column('Requestor', ({ spec }) => spec?.username ?? '', { description: 'The user who sent the request.' }),
    column(
      'RequestedDuration',
      ({ spec }) => (spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)),
      {
        description: 'The requested lifetime of the certificate.',
      },
    ),
    column('Condition', condition, { description: 'The state of the request.' }),
  ],
})

/** Resets all but the conditions: `/approval` writes nothing else. */
function resetAllButConditions(request: Request, old: Request): void {
  const conditions = withTimes(request, old)
  request.spec = old.spec
  request.status = { ...old.status, conditions }
}

/** Returns the conditions, with missing lastUpdateTime and lastTransitionTime set. */
function withTimes(request: Request, old: Request): NonNullable<NonNullable<Request['status']>['conditions']> {
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  const keyOf = ({ type, status }: { type: string; status: string }): string => JSON.stringify([type, status])
  // The first of several equal conditions counts.
  const before = new Map(
    (old.status?.conditions ?? []).toReversed().map((condition) => [keyOf(condition), condition.lastTransitionTime]),
  )
  return (request.status?.conditions ?? []).map((condition) => ({
    ...condition,
    lastUpdateTime: condition.lastUpdateTime ?? now,
    lastTransitionTime: condition.lastTransitionTime ?? before.get(keyOf(condition)) ?? now,
  }))
}

function condition({ status }: Request): string {
  const types = new Set(status?.conditions?.map(({ type }) => type))
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${types.has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`
}

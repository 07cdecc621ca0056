/** CertificateSigningRequests: certificates that someone asks for, someone approves and a signer issues. */
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
        writes: { prepare: onlyConditions, validate: approvalRules },
      },
    ],
  },
  // Nothing of a request can be changed, so upstream notes no owners of its fields.
  resets: { '': ['spec', 'status'], status: ['spec', 'status.conditions'], approval: ['spec', 'status.certificate'] },
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName },
  prepare: {
    // Signers rely on who asked: only the server says so.
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
    // What was asked for never changes.
    update: (request, old) => {
      request.spec = old.spec
    },
    status: (request, old) => {
      if (request.status?.conditions) request.status = { ...request.status, conditions: timed(request, old) }
    },
  },
  validate: { object: requestRules, update: approvalRules, status: requestStatusRules },
  columns: [
    name,
    age,
    column('SignerName', ({ spec }) => spec?.signerName || '<none>', { description: 'Who shall sign it.' }),
    column('Requestor', ({ spec }) => spec?.username ?? '', { description: 'Who asks.' }),
    column(
      'RequestedDuration',
      ({ spec }) => (spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)),
      {
        description: 'For how long the certificate shall hold.',
      },
    ),
    column('Condition', condition, { description: 'How far the request has come.' }),
  ],
})

/** Approving and denying changes conditions alone. */
function onlyConditions(request: Request, old: Request): void {
  const conditions = timed(request, old)
  request.spec = old.spec
  request.status = { ...old.status, conditions }
}

/** The conditions of a request; when they came and changed is noted by the server, unless they say. */
function timed(request: Request, old: Request): NonNullable<NonNullable<Request['status']>['conditions']> {
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  const keyOf = ({ type, status }: { type: string; status: string }): string => JSON.stringify([type, status])
  // The first of several counts.
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

/**
 * The kinds of the Network Policy API (policy.networking.k8s.io): policies of administrators for the whole cluster.
 * Their definitions are custom resources, which users install. Fields may have any form where definitions check less.
 */
import { type Resource, resource } from '../../../../client/resource.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import type { LabelSelector } from '../../../../machinery/selectors/label-selector.ts'

export const adminPolicyGroup = 'policy.networking.k8s.io'

/** Exactly one field is set, as in all types here without required fields. */
export interface AdminSubject {
  readonly namespaces?: LabelSelector
  readonly pods?: { readonly namespaceSelector?: LabelSelector; readonly podSelector?: LabelSelector }
}

/** Only destinations are nodes, networks and domains. */
export interface AdminPeer extends AdminSubject {
  readonly nodes?: LabelSelector
  readonly networks?: readonly string[]
  readonly domainNames?: readonly string[]
}

/** Of AdminNetworkPolicies and BaselineAdminNetworkPolicies. */
export interface AdminPort {
  /** Default protocol: TCP. */
  readonly portNumber?: { readonly protocol?: string; readonly port: number }
  readonly namedPort?: string
  readonly portRange?: { readonly protocol?: string; readonly start: number; readonly end: number }
}

export interface ProtocolPorts {
  readonly destinationPort?: {
    readonly number?: number
    readonly range?: { readonly start: number; readonly end: number }
  }
}

/** Of ClusterNetworkPolicies. */
export interface AdminProtocol {
  readonly tcp?: ProtocolPorts
  readonly udp?: ProtocolPorts
  readonly sctp?: ProtocolPorts
  readonly destinationNamedPort?: string
}

export interface AdminRule {
  readonly name?: string
  /** `Accept` (of the older kinds: `Allow`), `Deny` or `Pass`. */
  readonly action: string
  readonly from?: readonly AdminPeer[]
  readonly to?: readonly AdminPeer[]
  readonly ports?: readonly AdminPort[]
  readonly protocols?: readonly AdminProtocol[]
}

/** One of the three kinds. */
export interface AdminPolicyObject extends KubeObject {
  readonly spec?: {
    /** Only of ClusterNetworkPolicies: `Admin` or `Baseline`. */
    readonly tier?: string
    /** 0 to 1000; BaselineAdminNetworkPolicies have none. */
    readonly priority?: number
    readonly subject?: AdminSubject
    readonly ingress?: readonly AdminRule[]
    readonly egress?: readonly AdminRule[]
  }
}

export const adminNetworkPolicies: Resource<AdminPolicyObject> = resource(
  `${adminPolicyGroup}/v1alpha1`,
  'AdminNetworkPolicy',
  'adminnetworkpolicies',
  false,
)
export const baselineAdminNetworkPolicies: Resource<AdminPolicyObject> = resource(
  `${adminPolicyGroup}/v1alpha1`,
  'BaselineAdminNetworkPolicy',
  'baselineadminnetworkpolicies',
  false,
)
export const clusterNetworkPolicies: Resource<AdminPolicyObject> = resource(
  `${adminPolicyGroup}/v1alpha2`,
  'ClusterNetworkPolicy',
  'clusternetworkpolicies',
  false,
)

/** Each has one version that is supported. */
export const adminPolicyKinds = [adminNetworkPolicies, baselineAdminNetworkPolicies, clusterNetworkPolicies] as const

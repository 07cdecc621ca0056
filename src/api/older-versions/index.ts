/**
 * Versions in which older servers stored objects and that are not registered: kube-apiserver reads them, so objects
 * that nobody has written since may still have them.
 */
import type { ResourceDefinition } from '../resource.ts'
import { currentDefinition } from './custom-resource-definition.ts'
import { currentEndpointSlice } from './endpoint-slice.ts'
import { currentDisruptionBudget } from './pod-disruption-budget.ts'
import { currentPriorityLevel } from './priority-level.ts'

/** A JSON object of an older version, before it is decoded. */
export type OlderObject = Record<string, unknown>

/** Changes an object of an older version to the shape of the stored version, in place. */
export type Upgrade = (object: OlderObject) => void

const sameShape: Upgrade = () => {}

const flowControl = ['v1beta1', 'v1beta2', 'v1beta3']

/** Versions by group and resource. The protobuf messages of all of them have the numbers of the stored version. */
const older: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'admissionregistration.k8s.io': {
    mutatingwebhookconfigurations: ['v1beta1'],
    validatingwebhookconfigurations: ['v1beta1'],
    validatingadmissionpolicies: ['v1beta1', 'v1alpha1'],
    validatingadmissionpolicybindings: ['v1beta1', 'v1alpha1'],
  },
  'apiextensions.k8s.io': { customresourcedefinitions: ['v1beta1'] },
  'apiregistration.k8s.io': { apiservices: ['v1beta1'] },
  batch: { cronjobs: ['v1beta1'] },
  'certificates.k8s.io': { certificatesigningrequests: ['v1beta1'] },
  'coordination.k8s.io': { leases: ['v1beta1'] },
  'discovery.k8s.io': { endpointslices: ['v1beta1'] },
  'flowcontrol.apiserver.k8s.io': { flowschemas: flowControl, prioritylevelconfigurations: flowControl },
  'networking.k8s.io': { ingressclasses: ['v1beta1'] },
  'node.k8s.io': { runtimeclasses: ['v1beta1'] },
  policy: { poddisruptionbudgets: ['v1beta1'] },
  'rbac.authorization.k8s.io': {
    clusterrolebindings: ['v1beta1'],
    clusterroles: ['v1beta1'],
    rolebindings: ['v1beta1'],
    roles: ['v1beta1'],
  },
  'scheduling.k8s.io': { priorityclasses: ['v1beta1'] },
  'storage.k8s.io': {
    csidrivers: ['v1beta1'],
    csinodes: ['v1beta1'],
    csistoragecapacities: ['v1beta1', 'v1alpha1'],
    storageclasses: ['v1beta1'],
    volumeattachments: ['v1beta1', 'v1alpha1'],
    volumeattributesclasses: ['v1alpha1'],
  },
}

/** Kinds whose shape has changed. */
const upgrades: Readonly<Record<string, Upgrade>> = {
  customresourcedefinitions: currentDefinition,
  endpointslices: currentEndpointSlice,
  poddisruptionbudgets: currentDisruptionBudget,
  prioritylevelconfigurations: currentPriorityLevel,
}

/** Returns how objects of an older version become the stored one; undefined if the version is unknown. */
export function upgradeOf({ group, plural }: ResourceDefinition, version: string): Upgrade | undefined {
  const isKnown = older[group]?.[plural]?.includes(version) ?? false
  return isKnown ? (upgrades[plural] ?? sameShape) : undefined
}

/** Plug-ins that handle pods, and objects that pods depend on. */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { alwaysPullImages } from './images/always-pull-images.ts'
import { imagePolicyWebhook } from './images/image-policy-webhook.ts'
import { nodeDeclaredFeatureValidator } from './node-declared-features.ts'
import { podResizeValidator } from './pod-resize.ts'
import { runtimeClass } from './runtime-class.ts'
import { defaultTolerationSeconds } from './scheduling/default-toleration-seconds.ts'
import { extendedResourceToleration } from './scheduling/extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './scheduling/limit-pod-hard-anti-affinity-topology.ts'
import { podNodeSelector } from './scheduling/pod-node-selector.ts'
import { podTolerationRestriction } from './scheduling/pod-toleration-restriction.ts'
import { podTopologyLabels } from './scheduling/pod-topology-labels.ts'
import { priority } from './scheduling/priority.ts'
import { taintNodesByCondition } from './scheduling/taint-nodes-by-condition.ts'
import { ServiceAccount } from './service-account/index.ts'

export { privilegedContainers } from './privileged-containers.ts'

export const podPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  AlwaysPullImages: ({ find }) => alwaysPullImages(find('v1/pods')),
  DefaultTolerationSeconds: ({ find }, { tolerationSeconds }) =>
    defaultTolerationSeconds(find('v1/pods'), tolerationSeconds),
  ExtendedResourceToleration: ({ find }) => extendedResourceToleration(find('v1/pods')),
  ImagePolicyWebhook: imagePolicyWebhook,
  LimitPodHardAntiAffinityTopology: ({ find }) => limitPodHardAntiAffinityTopology(find('v1/pods')),
  NodeDeclaredFeatureValidator: nodeDeclaredFeatureValidator,
  PodNodeSelector: podNodeSelector,
  PodResizeValidator: podResizeValidator,
  PodTolerationRestriction: podTolerationRestriction,
  PodTopologyLabels: podTopologyLabels,
  Priority: priority,
  RuntimeClass: runtimeClass,
  ServiceAccount: (sources) => new ServiceAccount(sources),
  TaintNodesByCondition: ({ find }) => taintNodesByCondition(find('v1/nodes')),
}

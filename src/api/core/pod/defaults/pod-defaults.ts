/** Defaults of pods and pod templates. Plain functions over the object, since every pod needs them. */
import { setOwn } from '../../../../lib/own.ts'
import { nullMissingTimes } from '../../../nulls.ts'
import { isHugePages, resourceListDefaults } from '../../quota/resource-list.ts'
import { imagePullPolicy } from '../image.ts'
import type { Container, EphemeralContainer, Pod, PodSpec, PodStatus, PodTemplate, Probe } from '../model.ts'
import { isPodLevelResource, podLimits, podRequests } from '../resources/pod-resources.ts'
import { volumeDefaults } from './volume-defaults.ts'

/** Sets the defaults of a spec of a pod or a template. */
export function podSpecDefaults(spec: PodSpec): void {
  spec.restartPolicy ||= 'Always'
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.schedulerName ||= 'default-scheduler'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= 30
  // `serviceAccount` is an older name of `serviceAccountName`; both are served.
  const account = spec.serviceAccountName || spec.serviceAccount
  if (account) {
    spec.serviceAccountName = account
    spec.serviceAccount = account
  }
  for (const container of spec.containers ?? []) containerDefaults(container)
  if (spec.initContainers) for (const container of spec.initContainers) containerDefaults(container)
  if (spec.ephemeralContainers) for (const container of spec.ephemeralContainers) containerDefaults(container)
  if (spec.volumes) for (const volume of spec.volumes) volumeDefaults(volume)
  if (spec.overhead) resourceListDefaults(spec.overhead)
  if (spec.resources) resourcesDefaults(spec.resources)
}

/** Sets the defaults of a pod template. A missing one stays missing. */
export function podTemplateDefaults(template: PodTemplate | undefined): void {
  if (!template) return
  template.metadata ??= {}
  template.spec ??= { containers: [] }
  podSpecDefaults(template.spec)
}

/** Sets the defaults of a pod: those of templates, and those of pods only. */
export function podDefaults(pod: Pod): void {
  pod.spec ??= { containers: [] }
  const { spec } = pod
  podSpecDefaults(spec)
  spec.enableServiceLinks ??= true
  for (const container of spec.containers ?? []) {
    requestDefaults(container)
    if (spec.hostNetwork) hostPortDefaults(container)
  }
  for (const container of spec.initContainers ?? []) {
    requestDefaults(container)
    if (spec.hostNetwork) hostPortDefaults(container)
  }
  if (spec.resources) podLevelDefaults(pod, spec.resources)
  if (pod.status) podStatusDefaults(pod.status)
}

/**
 * Sets pod-level requests from the containers' requests, or else from the pod-level limits, and huge page limits from
 * those of the containers (KEP-2837).
 */
function podLevelDefaults(pod: Pod, resources: NonNullable<PodSpec['resources']>): void {
  const { resources: _whole, ...rest } = pod.spec ?? { containers: [] }
  const containers = { ...pod, spec: rest, status: undefined }
  if (Object.keys(resources.limits ?? {}).length + Object.keys(resources.requests ?? {}).length > 0) {
    const limits = podLimits(containers)
    for (const name in limits)
      if (isHugePages(name)) setMissing((resources.limits ??= {}), name, limits[name] as string)
  }
  if (Object.keys(resources.limits ?? {}).length === 0) return
  resources.requests ??= {}
  const totalRequests = podRequests(containers)
  for (const name of ['cpu', 'memory'])
    if (totalRequests[name] !== undefined) setMissing(resources.requests, name, totalRequests[name])
  for (const name in resources.limits)
    if (isPodLevelResource(name)) setMissing(resources.requests, name, resources.limits[name] as string)
}

function setMissing(list: Record<string, string>, name: string, amount: string): void {
  if (!Object.hasOwn(list, name)) setOwn(list, name, amount)
}

function containerDefaults(container: Container | EphemeralContainer): void {
  container.resources ??= {}
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  container.imagePullPolicy ||= imagePullPolicy(container.image ?? '')
  resourcesDefaults(container.resources)
  if (container.ports) for (const port of container.ports) port.protocol ||= 'TCP'
  if (container.env) {
    for (const { valueFrom } of container.env) {
      if (!valueFrom) continue
      if (valueFrom.fieldRef) valueFrom.fieldRef.apiVersion ||= 'v1'
      if (valueFrom.resourceFieldRef) valueFrom.resourceFieldRef.divisor ||= '0'
      if (valueFrom.fileKeyRef) valueFrom.fileKeyRef.optional ??= false
    }
  }
  probeDefaults(container.livenessProbe)
  probeDefaults(container.readinessProbe)
  probeDefaults(container.startupProbe)
  httpGetDefaults(container.lifecycle?.postStart?.httpGet)
  httpGetDefaults(container.lifecycle?.preStop?.httpGet)
}

function resourcesDefaults({
  limits,
  requests,
}: {
  limits?: Record<string, string>
  requests?: Record<string, string>
}): void {
  if (limits) resourceListDefaults(limits)
  if (requests) resourceListDefaults(requests)
}

function probeDefaults(probe: Probe | undefined): void {
  if (!probe) return
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  httpGetDefaults(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

function httpGetDefaults(get: { path?: string; scheme?: string } | undefined): void {
  if (!get) return
  get.path ||= '/'
  get.scheme ||= 'HTTP'
}

/** Sets a container's missing requests to its limits. */
function requestDefaults({ resources }: Container): void {
  if (!resources?.limits) return
  resources.requests ??= {}
  for (const name in resources.limits)
    if (!Object.hasOwn(resources.requests, name)) setOwn(resources.requests, name, resources.limits[name] as string)
}

/** With hostNetwork, hostPort defaults to the containerPort. */
function hostPortDefaults({ ports }: Container): void {
  for (const port of ports ?? []) port.hostPort ||= port.containerPort
}

/** Sets absent times to null, and makes `podIP` and `podIPs` match. */
export function podStatusDefaults(status: PodStatus): void {
  if (status.podIP) {
    if (!status.podIPs?.length || status.podIPs[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  } else if (status.podIPs?.[0]) status.podIP = status.podIPs[0].ip
  if (status.conditions) nullMissingTimes(status.conditions, 'lastProbeTime', 'lastTransitionTime')
  for (const list of [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses]) {
    for (const container of list ?? []) {
      container.state ??= {}
      container.lastState ??= {}
      for (const { running, terminated } of [container.state, container.lastState]) {
        if (running) nullMissingTimes([running], 'startedAt')
        if (terminated) nullMissingTimes([terminated], 'startedAt', 'finishedAt')
      }
      if (container.resources) resourcesDefaults(container.resources)
      if (container.allocatedResources) resourceListDefaults(container.allocatedResources)
    }
  }
}

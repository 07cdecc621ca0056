/** Validation of specs of pods and pod templates, in upstream's order. */

import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from '../../../../machinery/validation/field-error.ts'
import {
  all,
  each,
  follows,
  oneOf,
  optionalText,
  requiredText,
  valid,
} from '../../../../machinery/validation/field-rules.ts'
import { validateAnnotations, validateLabels } from '../../../../machinery/validation/metadata.ts'
import {
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  qualifiedName,
  underscoredSubdomain,
} from '../../../../machinery/validation/names.ts'
import { isFeatureOn } from '../../../features/current.ts'
import { containerResourceName } from '../../quota/resource-rules.ts'
import type { PodSpec, PodTemplate, Volume } from '../model.ts'
import { matchingProfiles, podAnnotations } from './annotations.ts'
import {
  containers,
  ephemeralContainers,
  hostNetworkPorts,
  initContainers,
  trimmedImage,
} from './containers/containers.ts'
import { fileKeyVolumes } from './containers/environment.ts'
import { everyContainer } from './containers/every-container.ts'
import { requirements } from './containers/resources.ts'
import { podLevelResources } from './pod-level-resources.ts'
import { claimNames, podClaims } from './resource-claims.ts'
import { affinity, schedulingGates, spreadConstraints, tolerations } from './scheduling.ts'
import { operatingSystem, podSecurity } from './security.ts'
import { volumes } from './volumes/volumes.ts'
import { hostProcesses } from './windows.ts'

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const maxSeconds = 2 ** 31 - 1
const noVolumes: ReadonlyMap<string, Volume> = new Map()

/** Properties of a template that its spec does not have. */
export interface TemplateOptions {
  /**
   * For StatefulSets: names of volumeClaimTemplates. The pods get volumes of these names, and their host names and
   * subdomains, on create.
   */
  readonly claims?: readonly string[]
}

/** Validates a pod's spec; `template` is set for a pod template. */
export function podSpec(spec: PodSpec, path: string, template?: TemplateOptions, podName = ''): readonly FieldError[] {
  const { claims } = template ?? {}
  const list = claims?.length ? withClaimVolumes(spec.volumes, claims) : spec.volumes
  const found = list?.length ? new Map<string, Volume>() : undefined
  const volumeErrors = found ? volumes(list, `${path}.volumes`, found, podName) : valid
  const { activeDeadlineSeconds: deadline, restartPolicy } = spec
  const usesHostUsers = spec.hostUsers ?? true
  const podContext = { volumes: found ?? noVolumes, claims: claimNames(spec), restartPolicy, hostUsers: usesHostUsers }
  return all(
    volumeErrors,
    podClaims(spec.resourceClaims, `${path}.resourceClaims`),
    containers(spec, `${path}.containers`, podContext),
    initContainers(spec, `${path}.initContainers`, podContext),
    ephemeralContainers(spec, `${path}.ephemeralContainers`, podContext),
    podLevelResources(spec, `${path}.resources`),
    hostNetworkPorts(spec, path, template !== undefined),
    oneOf(spec.restartPolicy, `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never'], 'needed'),
    oneOf(spec.dnsPolicy, `${path}.dnsPolicy`, dnsPolicies, 'needed'),
    spec.nodeSelector ? validateLabels(spec.nodeSelector, `${path}.nodeSelector`) : valid,
    podSecurity(spec, `${path}.securityContext`),
    affinity(spec.affinity, `${path}.affinity`),
    dnsConfig(spec, `${path}.dnsConfig`),
    each(spec.readinessGates, `${path}.readinessGates`, ({ conditionType }, at) =>
      follows(conditionType, `${at}.conditionType`, qualifiedName),
    ),
    schedulingGates(spec.schedulingGates, `${path}.schedulingGates`),
    spreadConstraints(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`),
    hostProcesses(spec, path),
    hostUsers(spec, path),
    hostnameOverride(spec, path),
    optionalText(spec.serviceAccountName, `${path}.serviceAccountName`, dnsSubdomain),
    optionalText(spec.nodeName, `${path}.nodeName`, dnsSubdomain),
    deadline !== undefined && (deadline < 1 || deadline > maxSeconds)
      ? [invalidValue(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${maxSeconds}, inclusive`)]
      : valid,
    claims ? valid : optionalText(spec.hostname, `${path}.hostname`, dnsLabel),
    claims ? valid : optionalText(spec.subdomain, `${path}.subdomain`, dnsLabel),
    tolerations(spec.tolerations, `${path}.tolerations`),
    hostAliases(spec, `${path}.hostAliases`),
    optionalText(spec.priorityClassName, `${path}.priorityClassName`, dnsSubdomain),
    follows(spec.runtimeClassName, `${path}.runtimeClassName`, dnsSubdomain),
    oneOf(spec.preemptionPolicy, `${path}.preemptionPolicy`, ['PreemptLowerPriority', 'Never']),
    spec.overhead ? requirements({ limits: spec.overhead }, `${path}.overhead`, containerResourceName) : valid,
    operatingSystem(spec, path),
    fileKeyVolumes(spec, path),
  )
}

/** Prepends volumes of claims, which replace volumes of the same names. */
const withClaimVolumes = (list: readonly Volume[] = [], claims: readonly string[]): Volume[] => [
  ...[...new Set(claims)].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  ...list.filter(({ name }) => !claims.includes(name)),
]

/** The kernel's limit for host names. */
const maxHostnameLength = 64

/** Validates `hostnameOverride`, which excludes setHostnameAsFQDN and hostNetwork (KEP-4762). */
function hostnameOverride(
  { hostnameOverride: name, setHostnameAsFQDN, hostNetwork }: PodSpec,
  path: string,
): readonly FieldError[] {
  if (name === undefined) return valid
  const at = `${path}.hostnameOverride`
  return all(
    setHostnameAsFQDN ? [forbiddenField(at, 'may not be specified when setHostnameAsFQDN is true')] : valid,
    hostNetwork ? [forbiddenField(at, 'may not be specified when hostNetwork is true')] : valid,
    name.length > maxHostnameLength ? [tooLong(at, maxHostnameLength)] : valid,
    follows(name, at, dnsSubdomain),
  )
}

/** Validates rules of pods that do not apply to templates, which upstream validated less strictly before. */
export function validatePodOnly(spec: PodSpec, path: string): readonly FieldError[] {
  return all(
    spec.serviceAccountName ? valid : tokensWithoutAccount(spec, path),
    each(spec.volumes, `${path}.volumes`, ({ image }, at) =>
      image ? requiredText(image.reference, `${at}.image.reference`) : valid,
    ),
    each(spec.containers, `${path}.containers`, trimmedImage),
    each(spec.initContainers, `${path}.initContainers`, trimmedImage),
  )
}

const tokensWithoutAccount = ({ volumes: list }: PodSpec, path: string): readonly FieldError[] =>
  each(list, `${path}.volumes`, ({ projected }, at) =>
    each(projected?.sources, `${at}.projected.sources`, ({ serviceAccountToken }, source) =>
      serviceAccountToken
        ? [forbiddenField(`${source}.serviceAccountToken`, 'must not be specified when serviceAccountName is not set')]
        : valid,
    ),
  )

/** With hostUsers false, rejects namespaces of the host and block devices. */
function hostUsers(spec: PodSpec, path: string): readonly FieldError[] {
  if (spec.hostUsers !== false) return valid
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter(
    (field) => spec[field] && !(field === 'hostNetwork' && isFeatureOn('UserNamespacesHostNetworkSupport')),
  )
  const refused = 'when `hostUsers` is false'
  return all(
    shared.map((field) =>
      forbiddenField(`${path}.${field.replace(/^hostP|^hostI/, (part) => `H${part.slice(1)}`)}`, refused),
    ),
    everyContainer(spec, path).flatMap(([{ volumeDevices }, at]) =>
      volumeDevices?.length ? [forbiddenField(`${at}.volumeDevices`, refused)] : valid,
    ),
  )
}

const hostAliases = ({ hostAliases: list }: PodSpec, path: string): readonly FieldError[] =>
  list?.length
    ? list.flatMap(({ ip, hostnames = [] }, i) =>
        all(
          follows(ip, `${path}[${i}].ip`, ipAddress),
          hostnames.flatMap((hostname, j) => follows(hostname, `${path}[${i}].hostnames[${j}]`, dnsSubdomain)),
        ),
      )
    : valid

function dnsConfig({ dnsConfig: config, dnsPolicy }: PodSpec, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (dnsPolicy === 'None') {
    if (!config) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if (!config.nameservers?.length)
      return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
  }
  if (!config) return valid
  const { nameservers = [], searches = [], options = [] } = config
  if (nameservers.length > 3)
    errors.push(invalidValue(`${path}.nameservers`, nameservers, 'must not have more than 3 nameservers'))
  nameservers.forEach((server, i) => {
    errors.push(...follows(server, `${path}.nameservers[${i}]`, ipAddress))
  })
  if (searches.length > 32)
    errors.push(invalidValue(`${path}.searches`, searches, 'must not have more than 32 search paths'))
  if (searches.join(' ').length > 2048)
    errors.push(
      invalidValue(
        `${path}.searches`,
        searches,
        'must not have more than 2048 characters (including spaces) in the search list',
      ),
    )
  searches.forEach((search, i) => {
    const name = search === '.' ? undefined : search.replace(/\.$/, '')
    errors.push(...follows(name, `${path}.searches[${i}]`, underscoredSubdomain))
  })
  options.forEach(({ name }, i) => {
    if (!name) errors.push(required(`${path}.options[${i}]`, 'must not be empty'))
  })
  return errors
}

/** Validates a pod template: labels, annotations and spec. */
export function podTemplate(template: PodTemplate, path: string, options: TemplateOptions = {}): readonly FieldError[] {
  const { metadata, spec } = template
  return all(
    validateLabels(metadata?.labels, `${path}.labels`),
    validateAnnotations(metadata?.annotations, `${path}.annotations`),
    spec ? podAnnotations(metadata?.annotations, spec, `${path}.annotations`) : valid,
    spec ? podSpec(spec, `${path}.spec`, options) : valid,
    spec ? matchingProfiles(metadata?.annotations, spec, `${path}.spec`) : valid,
    spec?.ephemeralContainers?.length
      ? [forbiddenField(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : valid,
  )
}

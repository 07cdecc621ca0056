/**
 * `--allow-privileged=false`: rejects privileged containers. Upstream has it as a validation rule, not as a plug-in;
 * the messages are the same.
 */
import type { PodSpec } from '../../../api/core/pod/model.ts'
import { invalid } from '../../../machinery/status-error.ts'
import { forbiddenField } from '../../../machinery/validation/field-error.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { templatePlaces } from './pod-templates.ts'
import { writtenPod } from './pod-write.ts'

export function privilegedContainers({ find }: Pick<PluginSources, 'find'>): AdmissionPlugin {
  const pods = find('v1/pods')
  const templates = templatePlaces(find)
  return {
    name: 'PrivilegedContainers',
    handles: ['CREATE', 'UPDATE'],
    validate(attributes) {
      const { resource, subresource, object, name } = attributes
      const place = subresource === '' ? templates.get(resource) : undefined
      const spec =
        subresource === 'ephemeralcontainers'
          ? writtenPod(pods, { ...attributes, subresource: '' })?.spec
          : writtenPod(pods, attributes)?.spec
      const faults = spec
        ? faultsOf(spec, 'spec')
        : faultsOf(place && object && place.of(object)?.spec, `${place?.path}.spec`)
      if (faults.length) throw invalid(resource.storage.groupKind, name || object?.metadata.name || '', faults)
    },
  }
}

const faultsOf = (spec: PodSpec | undefined, path: string) =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec?.[list] ?? []).flatMap(({ securityContext }, i) =>
      securityContext?.privileged
        ? forbiddenField(`${path}.${list}[${i}].securityContext.privileged`, 'disallowed by cluster policy')
        : [],
    ),
  )

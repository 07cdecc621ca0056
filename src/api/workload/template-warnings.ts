/**
 * Warnings of kinds with a pod template: about a new or changed template, and about names that pod names derive from.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { podNameWarnings, templateWarnings } from '../core/pod/index.ts'
import type { PodTemplate } from '../core/pod/model.ts'

type Templated = KubeObject & { spec?: { template?: PodTemplate } }

const none: readonly string[] = []

/** Returns true on create, and if the generation changed. */
export const isChanged = ({ metadata }: KubeObject, old: KubeObject | undefined): boolean =>
  !old || metadata.generation !== old.metadata.generation

/** Returns warnings about `spec.template`. */
export const specTemplateWarnings = (object: Templated, old: Templated | undefined): readonly string[] =>
  isChanged(object, old) ? templateWarnings(object.spec?.template) : none

/** Like `specTemplateWarnings`, and about the name of a new object, which its pods' names begin with. */
export const namedTemplateWarnings = (object: Templated, old: Templated | undefined): readonly string[] =>
  old
    ? specTemplateWarnings(object, old)
    : [...podNameWarnings(object.metadata.name), ...specTemplateWarnings(object, old)]

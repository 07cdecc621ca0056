/**
 * What kinds with a pod template warn of: the template, when it is new or changed, and names that pods get theirs from.
 */
import type { KubeObject } from '../../machinery/object.ts'
import { podNamesOf, templateWarnings } from '../core/pod/index.ts'
import type { PodTemplate } from '../core/pod/model.ts'

type Templated = KubeObject & { spec?: { template?: PodTemplate } }

const none: readonly string[] = []

/** Whether a write changed what the kind's controller looks at. */
export const isChanged = ({ metadata }: KubeObject, old: KubeObject | undefined): boolean =>
  !old || metadata.generation !== old.metadata.generation

/** Warnings about `spec.template`. */
export const specTemplateWarnings = (object: Templated, old: Templated | undefined): readonly string[] =>
  isChanged(object, old) ? templateWarnings(object.spec?.template) : none

/** As `specTemplateWarnings`, and about the name of a new object: its pods' names begin with it. */
export const namedTemplateWarnings = (object: Templated, old: Templated | undefined): readonly string[] =>
  old ? specTemplateWarnings(object, old) : [...podNamesOf(object.metadata.name), ...specTemplateWarnings(object, old)]

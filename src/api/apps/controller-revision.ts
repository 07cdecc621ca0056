/** ControllerRevisions: earlier templates of a StatefulSet or DaemonSet, for rollbacks. */
import type { V1ControllerRevision } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { type FieldError, required } from '../../machinery/validation/field-error.ts'
import { all, immutable, nonNegative, valid } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'

type ControllerRevision = Omit<Model<V1ControllerRevision>, 'data'> & { data?: unknown }

const rules = ({ data, revision }: ControllerRevision): readonly FieldError[] =>
  all(
    data === undefined || data === null ? [required('data', 'data is mandatory')] : valid,
    nonNegative(revision, 'revision'),
  )

/** Returns the owner, such as `statefulset.apps/shop`. */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  if (!owner) return '<none>'
  const slash = owner.apiVersion.indexOf('/')
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`
  return `${`${owner.kind}${group}`.toLowerCase()}/${owner.name}`
}

export const controllerRevisions = resource<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  defaults: [{ revision: 0 }],
  validate: { object: rules, update: (revision, old) => immutable(revision.data, 'data', old.data) },
  columns: [
    name,
    column('Controller', controllerText, { description: 'The controller that owns the revision.' }),
    column('Revision', ({ revision }) => revision, {
      description: 'The revision number; later revisions have greater ones.',
    }),
    age,
  ],
})

/**
 * Kubernetes' library for JSON patches, which mutating admission policies have:
 * `jsonpatch.escapeKey('example.com/label')`.
 */
import type { Library } from '../../library.ts'
import { declare, overload } from '../../standard/declare.ts'
import { stringType } from '../../types.ts'
import { textOf } from '../arguments.ts'
import { looksAtFirst } from '../costs.ts'

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

export const jsonPatchLibrary: Library = {
  name: 'kubernetes.jsonpatch',
  functions: [
    declare(
      'jsonpatch.escapeKey',
      overload(
        'string_jsonpatch_escapeKey_string',
        [stringType],
        stringType,
        (key) => escaped(textOf(key)),
        looksAtFirst(1, true),
      ),
    ),
  ],
}

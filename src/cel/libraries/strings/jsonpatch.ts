/** Kubernetes' JSON patch library for mutating admission policies: `jsonpatch.escapeKey('example.com/label')`. */
import type { Library } from '../../library.ts'
import { declare, overload } from '../../standard/declare.ts'
import { stringType } from '../../types.ts'
import { textOf } from '../arguments.ts'
import { scanFirstCosts } from '../costs.ts'

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
        scanFirstCosts(1, true),
      ),
    ),
  ],
}

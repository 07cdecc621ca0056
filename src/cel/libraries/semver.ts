/** Kubernetes' library of semantic versions: `semver('1.2.3').isLessThan(semver('1.10.0'))`. */
import * as versions from '../../machinery/values/semantic-version.ts'
import type { Library } from '../library.ts'
import { declare, member, overload } from '../standard/declare.ts'
import { boolType, intType, opaqueType, stringType } from '../types.ts'
import { OpaqueValue, type Value } from '../values.ts'
import { boolOf, own, readAs, succeeds, textOf } from './arguments.ts'
import { looksAtFirst } from './costs.ts'

export const semverType = opaqueType('kubernetes.Semver')

class SemverValue extends OpaqueValue {
  readonly type = semverType
  readonly version: versions.SemanticVersion
  constructor(version: versions.SemanticVersion) {
    super()
    this.version = version
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && versions.compareVersions(this.version, other.version) === 0
  }
}

/** The value of a version. `normalize` completes versions such as `v1.2`. Throws CelError. */
export const semverOf = (text: Value | undefined, normalize = false): SemverValue =>
  new SemverValue(
    readAs(versions.SemanticVersionError, () =>
      (normalize ? versions.parseTolerantVersion : versions.parseSemanticVersion)(textOf(text)),
    ),
  )

const compare = (a: Value | undefined, b: Value | undefined): number =>
  versions.compareVersions(own(SemverValue, a).version, own(SemverValue, b).version)

const part = (name: 'major' | 'minor' | 'patch') =>
  declare(
    name,
    member(`semver_${name}`, [semverType], intType, (value) =>
      BigInt.asIntN(64, own(SemverValue, value).version[name]),
    ),
  )

export const semverLibrary: Library = {
  name: 'kubernetes.Semver',
  types: [semverType],
  functions: [
    declare(
      'semver',
      overload('string_to_semver', [stringType], semverType, (text) => semverOf(text), looksAtFirst()),
      overload(
        'string_bool_to_semver',
        [stringType, boolType],
        semverType,
        (text, normalize) => semverOf(text, boolOf(normalize)),
        looksAtFirst(),
      ),
    ),
    declare(
      'isSemver',
      overload('is_semver_string', [stringType], boolType, (text) => succeeds(() => semverOf(text)), looksAtFirst()),
      overload(
        'is_semver_string_bool',
        [stringType, boolType],
        boolType,
        (text, normalize) => succeeds(() => semverOf(text, boolOf(normalize))),
        looksAtFirst(),
      ),
    ),
    declare(
      'isGreaterThan',
      member('semver_is_greater_than', [semverType, semverType], boolType, (a, b) => compare(a, b) > 0),
    ),
    declare(
      'isLessThan',
      member('semver_is_less_than', [semverType, semverType], boolType, (a, b) => compare(a, b) < 0),
    ),
    declare(
      'compareTo',
      member('semver_compare_to', [semverType, semverType], intType, (a, b) => BigInt(compare(a, b))),
    ),
    part('major'),
    part('minor'),
    part('patch'),
  ],
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Definition, DefinitionVersion } from './definition.ts'
import { definitionRules, definitionStatusRules, definitionUpdateRules } from './definition-rules.ts'
import { formatWarnings } from './format-warnings.ts'

type Change = (definition: Definition & { spec: { versions: DefinitionVersion[] } }) => void

function definition(change: Change = () => {}): Definition {
  const created: Definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      conversion: { strategy: 'None' },
      versions: [version('v1', { storage: true })],
    },
    status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  }
  change(created)
  return created
}

function version(name: string, more: Partial<DefinitionVersion> = {}): DefinitionVersion {
  const spec = {
    type: 'object',
    properties: { a: { type: 'string' }, list: { type: 'array', items: { type: 'string' } }, n: { type: 'number' } },
  }
  return {
    name,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    ...more,
  }
}

const texts = (faults: ReturnType<typeof definitionRules>): string[] =>
  faults.map(({ field, message }) => `${field}: ${message}`)
const errorsOf = (change?: Change): string[] => texts(definitionRules(definition(change)))

const established: Change = ({ status }) => {
  if (status) status.conditions = [{ type: 'Established', status: 'True' }]
}
const updateErrorsOf = (change: Change, old: Change = () => {}): string[] =>
  texts(definitionUpdateRules(definition(change), definition(old)))

describe('a new definition', () => {
  test('is valid in its usual form', () => assert.deepEqual(errorsOf(), []))

  const columns = [{ name: 'A', type: 'text', jsonPath: '.a' }]
  const wrongType = 'Invalid value: "text": must be one of boolean,date,integer,number,string'

  test('has errors with a path below spec for fields that all versions share', () => {
    assert.deepEqual(
      errorsOf(({ spec }) => spec.versions.push(version('v2', { additionalPrinterColumns: columns }))),
      [`spec.versions[1].additionalPrinterColumns[0].type: ${wrongType}`],
    )
    const both: Change = ({ spec }) => {
      spec.versions = [
        version('v1', { storage: true, additionalPrinterColumns: columns }),
        version('v2', { additionalPrinterColumns: columns }),
      ]
    }
    assert.deepEqual(errorsOf(both), [`spec.additionalPrinterColumns[0].type: ${wrongType}`])
  })

  test('has schema errors with the path of the version, unless all schemas are equal', () => {
    const odd = { openAPIV3Schema: { type: 'object', properties: { spec: {} } } }
    const must = 'openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields'
    assert.deepEqual(
      errorsOf(({ spec }) => spec.versions.push(version('v2', { schema: odd }))),
      [`spec.versions[1].schema.${must}`],
    )
    assert.deepEqual(
      errorsOf(({ spec }) => Object.assign(spec.versions[0] ?? {}, { schema: odd })),
      [`spec.validation.${must}`],
    )
  })

  test('allows at most eight selectable fields, all scalars outside of metadata', () => {
    const selecting =
      (...paths: string[]): Change =>
      ({ spec }) =>
        Object.assign(spec.versions[0] ?? {}, { selectableFields: paths.map((jsonPath) => ({ jsonPath })) })
    assert.deepEqual(errorsOf(selecting('.spec.a')), [])
    assert.deepEqual(errorsOf(selecting('', '.spec.b', '.spec.list', '.spec.a', '.spec.a', ".spec['a']", 'spec')), [
      'spec.selectableFields[0].jsonPath: Required value',
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec.b": is an invalid path: does not refer to a ' +
        'valid field',
      'spec.selectableFields[2].jsonPath: Invalid value: ".spec.list": must point to a field of type string, ' +
        'boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[4].jsonPath: Duplicate value: ".spec.a"',
      'spec.selectableFields[5].jsonPath: Invalid value: ".spec[\'a\']": is an invalid path: array notation is ' +
        'not allowed',
      'spec.selectableFields[6].jsonPath: Invalid value: "spec": is an invalid path: expected [ or . but got: spec',
    ])
    const nine: Change = (made) => {
      const names = Array.from({ length: 9 }, (_, i) => `f${i}`)
      const spec = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }
      Object.assign(made.spec.versions[0] ?? {}, {
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      })
      selecting(...names.map((name) => `.spec.${name}`))(made)
    }
    assert.deepEqual(errorsOf(nine), ['spec.selectableFields: Too many: 9: must have at most 8 items'])
  })

  test('has a deprecationWarning of one printable line', () => {
    const warning =
      (deprecationWarning: string): Change =>
      ({ spec }) =>
        Object.assign(spec.versions[0] ?? {}, { deprecated: true, deprecationWarning })
    assert.deepEqual(errorsOf(warning('use v2')), [])
    assert.match(errorsOf(warning(''))[0] ?? '', /must not be an empty string/)
    assert.match(errorsOf(warning('a\nb'))[0] ?? '', /non-printable character found at index 1/)
    assert.match(errorsOf(warning('a'.repeat(257)))[0] ?? '', /must be <= 256 characters long/)
  })
})

describe('an update', () => {
  test('cannot change scope and kind of an established definition', () => {
    const change: Change = ({ spec }) => {
      spec.scope = 'Cluster'
      spec.names.kind = 'Wheel'
    }
    assert.deepEqual(updateErrorsOf(change), [])
    assert.deepEqual(updateErrorsOf(change, established), [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Wheel": field is immutable',
    ])
  })

  test('cannot remove versions in status.storedVersions', () => {
    const change: Change = ({ spec, status }) => {
      spec.versions = [version('v2', { storage: true })]
      if (status) status.storedVersions = ['v1', 'v2']
    }
    assert.deepEqual(updateErrorsOf(change), [
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage ' +
        'version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ' +
        'v1 and removes v1 from status.storedVersions',
    ])
    assert.deepEqual(definitionStatusRules(definition(change)), [])
  })

  test('may keep values that are no longer valid, but not add them', () => {
    const items = { type: 'object', properties: { a: { type: 'string' } } }
    const set: Change = ({ spec }) => {
      const schema = { type: 'object', properties: { spec: { type: 'array', 'x-kubernetes-list-type': 'set', items } } }
      Object.assign(spec.versions[0] ?? {}, { schema: { openAPIV3Schema: schema } })
    }
    assert.deepEqual(updateErrorsOf(set, set), [])
    assert.equal(updateErrorsOf(set).length, 1)
  })

  test('may omit the approval annotation if the old definition has none', () => {
    const protect: Change = ({ metadata, spec }) => {
      spec.group = 'example.k8s.io'
      metadata.name = 'gears.example.k8s.io'
    }
    assert.deepEqual(updateErrorsOf(protect, protect), [])
    assert.equal(errorsOf(protect).length, 1)
  })
})

describe('rules of a schema', () => {
  const withRule =
    (spec: object): Change =>
    ({ spec: { versions } }) => {
      versions[0] = version('v1', {
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } } },
      })
    }
  const at = 'spec.validation.openAPIV3Schema.properties[spec]'
  const costly = {
    properties: { list: { type: 'array', maxItems: 1600, items: { type: 'integer' } } },
    'x-kubernetes-validations': [{ rule: 'self.list.all(a, self.list.all(b, a != b))' }],
  }

  test('are compiled, and their cost is estimated', () => {
    assert.deepEqual(
      errorsOf(withRule({ 'x-kubernetes-validations': [{ rule: '1' }] })).map((fault) => fault.replace(/\{.*\}/, '…')),
      [`${at}.x-kubernetes-validations[0].rule: Invalid value: …: cel expression must evaluate to a bool`],
    )
    assert.match(
      errorsOf(withRule(costly)).join(),
      new RegExp(
        String.raw`^spec\.validation\S+x-kubernetes-validations\[0\]\.rule: ` +
          String.raw`Forbidden: estimated rule cost exceeds budget by factor of 1\.280960x `,
      ),
    )
  })

  test('may keep a cost above the limit', () => {
    assert.deepEqual(updateErrorsOf(withRule(costly), withRule(costly)), [])
    assert.equal(updateErrorsOf(withRule(costly)).length, 1)
  })

  test('are evaluated for defaults', () => {
    const few = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 5' }] }
    assert.deepEqual(errorsOf(withRule({ properties: { n: { ...few, default: 4 } } })), [])
    assert.deepEqual(errorsOf(withRule({ properties: { n: { ...few, default: 6 } } })), [
      `${at}.properties[n].default: Invalid value: 6: failed rule: self < 5`,
    ])
  })
})

describe('warnings of a definition', () => {
  const warningsOf = (specs: object[], old?: object[]): readonly string[] => {
    const of = (all: object[]): Definition =>
      definition(({ spec }) => {
        spec.versions = all.map((properties, i) =>
          version(`v${i + 1}`, { schema: { openAPIV3Schema: { type: 'object', properties } as never } }),
        )
      })
    return formatWarnings(of(specs), old && of(old))
  }
  const misspelt = { a: { type: 'string', format: 'emial' } }

  test('name each unrecognized format once', () => {
    assert.deepEqual(
      warningsOf([
        {
          a: { type: 'string', format: 'date-time' },
          b: { type: 'integer', format: 'int32' },
          c: { type: 'number', format: 'double' },
        },
      ]),
      [],
    )
    assert.deepEqual(warningsOf([misspelt, misspelt]), ['unrecognized format "emial"'])
    const wrongType = {
      a: { type: 'array', format: 'cidr', items: { type: 'integer', format: 'uint32' } },
      b: { type: 'number', format: 'int64' },
    }
    assert.deepEqual(warningsOf([wrongType]), [
      'unrecognized format "cidr"',
      'unrecognized format "uint32"',
      'unrecognized format "int64"',
    ])
    assert.deepEqual(
      warningsOf([
        { a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer', format: 'int' }, { type: 'string' }] } },
      ]),
      ['unrecognized format "int"'],
    )
  })

  test('do not repeat formats of the old definition', () => {
    const { a } = misspelt
    assert.deepEqual(warningsOf([{ b: a, c: { type: 'string', format: 'new' } }], [misspelt]), [
      'unrecognized format "new"',
    ])
  })
})

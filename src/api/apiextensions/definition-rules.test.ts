import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Definition, DefinitionVersion } from './definition.ts'
import { definitionRules, definitionStatusRules, definitionUpdateRules } from './definition-rules.ts'
import { formatWarnings } from './format-warnings.ts'

type Change = (definition: Definition & { spec: { versions: DefinitionVersion[] } }) => void

function definition(change: Change = () => {}): Definition {
  const made: Definition = {
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
  change(made)
  return made
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
const told = (change?: Change): string[] => texts(definitionRules(definition(change)))

const established: Change = ({ status }) => {
  if (status) status.conditions = [{ type: 'Established', status: 'True' }]
}
const toldOfUpdate = (change: Change, old: Change = () => {}): string[] =>
  texts(definitionUpdateRules(definition(change), definition(old)))

describe('a new definition', () => {
  test('is valid as it is usually written', () => assert.deepEqual(told(), []))

  const columns = [{ name: 'A', type: 'text', jsonPath: '.a' }]
  const wrongType = 'Invalid value: "text": must be one of boolean,date,integer,number,string'

  test('has faults of what all versions have in common named from the spec', () => {
    assert.deepEqual(
      told(({ spec }) => spec.versions.push(version('v2', { additionalPrinterColumns: columns }))),
      [`spec.versions[1].additionalPrinterColumns[0].type: ${wrongType}`],
    )
    const both: Change = ({ spec }) => {
      spec.versions = [
        version('v1', { storage: true, additionalPrinterColumns: columns }),
        version('v2', { additionalPrinterColumns: columns }),
      ]
    }
    assert.deepEqual(told(both), [`spec.additionalPrinterColumns[0].type: ${wrongType}`])
  })

  test('has faults of schemas named from the version, unless all are the same', () => {
    const odd = { openAPIV3Schema: { type: 'object', properties: { spec: {} } } }
    const must = 'openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields'
    assert.deepEqual(
      told(({ spec }) => spec.versions.push(version('v2', { schema: odd }))),
      [`spec.versions[1].schema.${must}`],
    )
    assert.deepEqual(
      told(({ spec }) => Object.assign(spec.versions[0] ?? {}, { schema: odd })),
      [`spec.validation.${must}`],
    )
  })

  test('selects by at most eight single values outside of metadata', () => {
    const selecting =
      (...paths: string[]): Change =>
      ({ spec }) =>
        Object.assign(spec.versions[0] ?? {}, { selectableFields: paths.map((jsonPath) => ({ jsonPath })) })
    assert.deepEqual(told(selecting('.spec.a')), [])
    assert.deepEqual(told(selecting('', '.spec.b', '.spec.list', '.spec.a', '.spec.a', ".spec['a']", 'spec')), [
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
    assert.deepEqual(told(nine), ['spec.selectableFields: Too many: 9: must have at most 8 items'])
  })

  test('warns of deprecation in one printable line', () => {
    const warning =
      (deprecationWarning: string): Change =>
      ({ spec }) =>
        Object.assign(spec.versions[0] ?? {}, { deprecated: true, deprecationWarning })
    assert.deepEqual(told(warning('use v2')), [])
    assert.match(told(warning(''))[0] ?? '', /must not be an empty string/)
    assert.match(told(warning('a\nb'))[0] ?? '', /non-printable character found at index 1/)
    assert.match(told(warning('a'.repeat(257)))[0] ?? '', /must be <= 256 characters long/)
  })
})

describe('an update', () => {
  test('keeps scope and kind once the definition is established', () => {
    const change: Change = ({ spec }) => {
      spec.scope = 'Cluster'
      spec.names.kind = 'Wheel'
    }
    assert.deepEqual(toldOfUpdate(change), [])
    assert.deepEqual(toldOfUpdate(change, established), [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Wheel": field is immutable',
    ])
  })

  test('keeps versions in which objects are stored', () => {
    const change: Change = ({ spec, status }) => {
      spec.versions = [version('v2', { storage: true })]
      if (status) status.storedVersions = ['v1', 'v2']
    }
    assert.deepEqual(toldOfUpdate(change), [
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage ' +
        'version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ' +
        'v1 and removes v1 from status.storedVersions',
    ])
    assert.deepEqual(definitionStatusRules(definition(change)), [])
  })

  test('may keep what older servers let in, and may not bring it in', () => {
    const items = { type: 'object', properties: { a: { type: 'string' } } }
    const set: Change = ({ spec }) => {
      const schema = { type: 'object', properties: { spec: { type: 'array', 'x-kubernetes-list-type': 'set', items } } }
      Object.assign(spec.versions[0] ?? {}, { schema: { openAPIV3Schema: schema } })
    }
    assert.deepEqual(toldOfUpdate(set, set), [])
    assert.equal(toldOfUpdate(set).length, 1)
  })

  test('may leave out an approval that was never there', () => {
    const protect: Change = ({ metadata, spec }) => {
      spec.group = 'example.k8s.io'
      metadata.name = 'gears.example.k8s.io'
    }
    assert.deepEqual(toldOfUpdate(protect, protect), [])
    assert.equal(told(protect).length, 1)
  })
})

describe('rules of a schema', () => {
  const ruled =
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

  test('are compiled, and priced', () => {
    assert.deepEqual(
      told(ruled({ 'x-kubernetes-validations': [{ rule: '1' }] })).map((fault) => fault.replace(/\{.*\}/, '…')),
      [`${at}.x-kubernetes-validations[0].rule: Invalid value: …: cel expression must evaluate to a bool`],
    )
    assert.match(
      told(ruled(costly)).join(),
      /^spec\.validation\S+x-kubernetes-validations\[0\]\.rule: Forbidden: estimated rule cost exceeds budget by factor of 1\.280960x /,
    )
  })

  test('may stay as dear as they were', () => {
    assert.deepEqual(toldOfUpdate(ruled(costly), ruled(costly)), [])
    assert.equal(toldOfUpdate(ruled(costly)).length, 1)
  })

  test('hold for defaults, too', () => {
    const few = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 5' }] }
    assert.deepEqual(told(ruled({ properties: { n: { ...few, default: 4 } } })), [])
    assert.deepEqual(told(ruled({ properties: { n: { ...few, default: 6 } } })), [
      `${at}.properties[n].default: Invalid value: 6: failed rule: self < 5`,
    ])
  })
})

describe('warnings of a definition', () => {
  const warned = (specs: object[], old?: object[]): readonly string[] => {
    const of = (all: object[]): Definition =>
      definition(({ spec }) => {
        spec.versions = all.map((properties, i) =>
          version(`v${i + 1}`, { schema: { openAPIV3Schema: { type: 'object', properties } as never } }),
        )
      })
    return formatWarnings(of(specs), old && of(old))
  }
  const misspelt = { a: { type: 'string', format: 'emial' } }

  test('name formats that nothing is held to, each once', () => {
    assert.deepEqual(
      warned([
        {
          a: { type: 'string', format: 'date-time' },
          b: { type: 'integer', format: 'int32' },
          c: { type: 'number', format: 'double' },
        },
      ]),
      [],
    )
    assert.deepEqual(warned([misspelt, misspelt]), ['unrecognized format "emial"'])
    const wrongType = {
      a: { type: 'array', format: 'cidr', items: { type: 'integer', format: 'uint32' } },
      b: { type: 'number', format: 'int64' },
    }
    assert.deepEqual(warned([wrongType]), [
      'unrecognized format "cidr"',
      'unrecognized format "uint32"',
      'unrecognized format "int64"',
    ])
    assert.deepEqual(
      warned([
        { a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer', format: 'int' }, { type: 'string' }] } },
      ]),
      ['unrecognized format "int"'],
    )
  })

  test('are not told again of formats that were there before', () => {
    const { a } = misspelt
    assert.deepEqual(warned([{ b: a, c: { type: 'string', format: 'new' } }], [misspelt]), [
      'unrecognized format "new"',
    ])
  })
})

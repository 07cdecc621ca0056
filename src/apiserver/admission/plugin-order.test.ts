import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultFeatures, FeatureGates } from '../../api/features/feature-gates.ts'
import { isPluginOn } from './plugin-order.ts'

const none = { enabled: [], disabled: [] }

test('a plug-in is on by default or when it is named, and only while its feature is on', () => {
  assert.equal(isPluginOn('PodTopologyLabels', none, defaultFeatures), true)
  assert.equal(isPluginOn('PodTopologyLabels', none, new FeatureGates({ PodTopologyLabelsAdmission: false })), false)
  assert.equal(isPluginOn('PodTopologyLabels', { ...none, disabled: ['PodTopologyLabels'] }, defaultFeatures), false)
  assert.equal(isPluginOn('MutatingAdmissionPolicy', none, new FeatureGates({ MutatingAdmissionPolicy: false })), false)
  assert.equal(
    isPluginOn('NodeDeclaredFeatureValidator', none, new FeatureGates({ NodeDeclaredFeatures: false })),
    false,
  )
  assert.equal(isPluginOn('AlwaysPullImages', none, defaultFeatures), false)
  assert.equal(isPluginOn('AlwaysPullImages', { ...none, enabled: ['AlwaysPullImages'] }, defaultFeatures), true)
})

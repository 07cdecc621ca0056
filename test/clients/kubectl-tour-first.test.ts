import { tourPart } from './kubectl/tour.ts'

tourPart(0)

import fc from "fast-check";
import { sampleSeed } from "./sample.ts";

// fast-check would take the clock, and two runs of a commit would test different inputs.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: sampleSeed });

export default fc;

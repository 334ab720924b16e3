-- The reconciler looks for validations whose message was lost; only assets that wait for one are in here.
CREATE INDEX assets_validating ON assets (updated_at) WHERE status = 'VALIDATING';

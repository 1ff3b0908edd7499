import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import ticdc.Vectors;

/** Loads every vector. Give the messages to your consumer here, and compare what it reads. */
class VectorsTest {
    @Test
    void everyVector() throws IOException {
        for (var protocol : Vectors.manifest().get("protocols").properties()) {
            int messages = 0, vectors = 0;
            for (JsonNode vector : Vectors.load(protocol.getKey())) {
                vectors++;
                for (JsonNode message : vector.path("messages")) {
                    messages++;
                    message.get("value").binaryValue();
                }
            }
            assertEquals(protocol.getValue().get("vectors").asInt(), vectors, protocol.getKey());
            assertEquals(protocol.getValue().get("messages").asInt(), messages, protocol.getKey());
        }
    }
}
